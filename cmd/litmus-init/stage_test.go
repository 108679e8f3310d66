package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// The tests of PID 1 run it for real: this test binary starts itself as the
// first process of new namespaces, there builds a root of the machine's own
// programs (stage) and becomes litmus-init in it (init). As an agent in such a
// box it is the reference agent (agent) or tries what is forbidden (clone3).
const (
	roleVariable = "LITMUS_INIT_TEST_ROLE"
	rootVariable = "LITMUS_INIT_TEST_ROOT"
	sockVariable = "LITMUS_INIT_TEST_SOCKETS"
	// plainVariable makes a box whose init may not choose process ids.
	plainVariable = "LITMUS_INIT_TEST_PLAIN"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "stage":
		fmt.Fprintln(os.Stderr, "stage:", stage(os.Getenv(rootVariable), os.Getenv(sockVariable)))
		os.Exit(1)
	case "init":
		err := boot()
		dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		fmt.Fprintf(os.Stderr, "init: %v, dumpable %d\n", err, dumpable)
		os.Exit(1)
	case "agent":
		os.Exit(runAgent(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "clone3":
		// Without arguments a clone3 that is let through fails with EINVAL.
		_, _, err := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0)
		fmt.Println(err)
	}
}

// boxCaps are the capabilities of init in a box, and CAP_NET_ADMIN, since here
// no container runtime has raised lo.
var boxCaps = []uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID,
	unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETPCAP, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_NET_ADMIN,
}

// stage builds a root at root, with the sockets of the folder sockets, and
// executes this program in it as init.
func stage(root, sockets string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	if err := unix.Mount("root", root, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("root: %w", err)
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64", "usr", "etc", "dev"} {
		if err := lend(root, "/"+name); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, m := range []struct{ source, target string }{{sockets, wire.SocketDir}, {self, wire.InitPath}} {
		if err := bind(m.source, root+m.target); err != nil {
			return err
		}
	}
	for _, name := range []string{"proc", "tmp", "scratch"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", root+"/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	runtime.LockOSThread() // capabilities are a thread's
	for number := uintptr(0); number <= unix.CAP_LAST_CAP; number++ {
		if slices.Contains(boxCaps, number) && (number != unix.CAP_CHECKPOINT_RESTORE || os.Getenv(plainVariable) == "") {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, number, 0, 0, 0); err != nil {
			return fmt.Errorf("bounding set: %w", err)
		}
	}
	return unix.Exec(wire.InitPath, []string{wire.InitPath}, []string{roleVariable + "=init"})
}

// lend makes the machine's own path visible in root, read-only but for devices.
func lend(root, path string) error {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, root+path)
	}
	if err := bind(path, root+path); err != nil {
		return err
	}
	if strings.HasPrefix(path, "/dev") {
		return nil
	}
	return unix.Mount("", root+path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// bind mounts source, a file or folder, at target, which it makes.
func bind(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o755)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding %s: %w", source, err)
	}
	return nil
}
