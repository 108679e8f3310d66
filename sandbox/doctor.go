package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Finding is one thing that boxes need, and whether it is there.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`        // what was found
	Fix    string `json:"fix,omitempty"` // a command line, set unless OK
}

// minFree is how many bytes must be free in the state directory: an image
// twice, packed and unpacked, and the daemon's database.
const minFree = 1 << 30

// Doctor looks for everything that boxes need, by trying it where that is
// possible, and leaves nothing behind. It always returns every finding, in one
// order.
func Doctor(ctx context.Context, config Config) []Finding {
	checks := []struct {
		name string
		fix  string
		try  func() (detail string, err error)
	}{
		{"root", "sudo -i", checkRoot},
		{"kernel", "apt-get install linux-image-amd64 && reboot", checkKernel},
		{"cgroups", "mount -t cgroup2 none /sys/fs/cgroup", checkCgroups},
		{"state directory", "df -h " + config.StateDir, func() (string, error) { return checkStateDir(config.StateDir) }},
		{"tmpfs", "modprobe tmpfs", func() (string, error) { return checkTmpfs(config.StateDir) }},
		{"overlayfs", "modprobe overlay", func() (string, error) { return checkOverlay(config.StateDir) }},
		{"busybox-static", "apt-get install busybox-static", checkBusybox},
		{"bash-static", "apt-get install bash-static", checkBash},
		{"oci runtime", "apt-get install runc", func() (string, error) { return checkRuntime(ctx, config) }},
		{"containerd", "systemctl start containerd", func() (string, error) { return checkContainerd(ctx, config) }},
	}
	findings := make([]Finding, len(checks))
	for i, check := range checks {
		detail, err := check.try()
		if err != nil {
			findings[i] = Finding{Name: check.name, Detail: err.Error(), Fix: check.fix}
			var missing *MissingError
			if errors.As(err, &missing) {
				findings[i].Fix = missing.Fix
			}
			continue
		}
		findings[i] = Finding{Name: check.name, OK: true, Detail: detail}
	}
	return findings
}

func checkRoot() (string, error) {
	if uid := os.Geteuid(); uid != 0 {
		return "", fmt.Errorf("running as user %d; mounts and namespaces need root", uid)
	}
	return "running as root", nil
}

func checkStateDir(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		return "", err
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return "", err
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", fmt.Errorf("statfs %s: %w", dir, err)
	}
	free := int64(fs.Bavail) * fs.Bsize
	detail := fmt.Sprintf("%s is writable, %.1f GiB are free", dir, float64(free)/(1<<30))
	if free < minFree {
		return "", fmt.Errorf("%s; %.1f GiB are needed", detail, float64(minFree)/(1<<30))
	}
	return detail, nil
}

func checkBusybox() (string, error) {
	path, _, err := readStatic(busyboxPaths, "busybox-static")
	return path, err
}

func checkBash() (string, error) {
	path, _, err := readStatic(bashPaths, "bash-static")
	return path, err
}

func checkContainerd(ctx context.Context, config Config) (string, error) {
	if config.Address == "" {
		return "private, compiled into litmus", nil
	}
	client, err := connect(ctx, config.Address)
	if err != nil {
		return "", err
	}
	defer client.Close()
	version, err := client.Version(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s at %s", version.Version, config.Address), nil
}
