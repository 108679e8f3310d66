package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/cgroups/v3"
	"golang.org/x/sys/unix"
)

// checkKernel tries the system calls that boxes rest on: openat2 (5.6) keeps
// staging and hashing inside of a box, clone3 with set_tid (5.5) pins process
// ids, pidfd_open (5.3) kills nothing but what was meant.
func checkKernel() (string, error) {
	var missing []string
	if fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH, Resolve: unix.RESOLVE_IN_ROOT}); err == nil {
		unix.Close(fd)
	} else {
		missing = append(missing, "openat2")
	}
	// Without arguments it has to refuse; where it does not exist it says so.
	if _, _, errno := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0); errno == unix.ENOSYS {
		missing = append(missing, "clone3")
	}
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		unix.Close(fd)
	} else {
		missing = append(missing, "pidfd_open")
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return "", err
	}
	release := unix.ByteSliceToString(name.Release[:])
	if len(missing) > 0 {
		return "", fmt.Errorf("kernel %s lacks %s", release, strings.Join(missing, ", "))
	}
	return "Linux " + release, nil
}

// checkCgroups looks for the controllers that cap a box and end it.
func checkCgroups() (string, error) {
	mode, controllers, err := cgroupControllers()
	if err != nil {
		return "", err
	}
	want := []string{"memory", "pids"}
	if mode != "v2" {
		want = append(want, "freezer") // a part of v2 itself
	}
	var missing []string
	for _, c := range want {
		if !slices.Contains(controllers, c) {
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		return "", &MissingError{
			What: fmt.Sprintf("%s without %s", mode, strings.Join(missing, ", ")),
			Fix:  `sed -i 's/^GRUB_CMDLINE_LINUX="/&cgroup_enable=memory /' /etc/default/grub && update-grub && reboot`,
		}
	}
	return fmt.Sprintf("%s with %s", mode, strings.Join(want, ", ")), nil
}

// cgroupControllers returns the mode, "v1", "hybrid" or "v2", and the
// controllers that can be used in it.
func cgroupControllers() (mode string, controllers []string, err error) {
	const root = "/sys/fs/cgroup"
	switch cgroups.Mode() {
	case cgroups.Unified:
		b, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
		if err != nil {
			return "", nil, fmt.Errorf("reading controllers: %w", err)
		}
		return "v2", strings.Fields(string(b)), nil
	case cgroups.Hybrid:
		mode = "hybrid v1 and v2"
	case cgroups.Legacy:
		mode = "v1"
	default:
		return "", nil, errors.New("no cgroups are mounted at " + root)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return "", nil, fmt.Errorf("reading controllers: %w", err)
	}
	for _, entry := range entries {
		controllers = append(controllers, entry.Name())
	}
	return mode, controllers, nil
}
