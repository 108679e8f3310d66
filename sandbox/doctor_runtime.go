package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// checkRuntime runs a container with the OCI runtime itself, without
// containerd: whether a runtime gets on with the kernel's cgroups shows only then.
func checkRuntime(ctx context.Context, config Config) (_ string, err error) {
	runtime, err := findRuntime(config.Runtime)
	if err != nil {
		return "", err
	}
	_, busybox, err := readStatic(busyboxPaths, "busybox-static")
	if err != nil {
		return "", fmt.Errorf("%s could not be tried: %w", runtime, err)
	}
	dir, err := os.MkdirTemp(config.StateDir, "doctor-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	id := filepath.Base(dir)
	if err := writeBundle(dir, id, busybox); err != nil {
		return "", err
	}
	if err := runBundle(ctx, runtime, dir, id); err != nil {
		return "", err
	}
	version, err := exec.CommandContext(ctx, runtime, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", runtime, err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	return fmt.Sprintf("%s, %s", runtime, first), nil
}

// writeBundle makes a container whose only file is busybox and that runs it as "true".
func writeBundle(dir, id string, busybox []byte) error {
	rootfs := filepath.Join(dir, "rootfs")
	if err := os.MkdirAll(filepath.Join(rootfs, "proc"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(rootfs, "busybox"), busybox, 0o755); err != nil {
		return err
	}
	config, err := json.Marshal(specs.Spec{
		Version: "1.0.2",
		Process: &specs.Process{Args: []string{"/busybox", "true"}, Cwd: "/", Env: []string{"PATH=/"}, NoNewPrivileges: true},
		Root:    &specs.Root{Path: "rootfs"},
		Mounts:  []specs.Mount{{Destination: "/proc", Type: "proc", Source: "proc"}},
		Linux: &specs.Linux{
			CgroupsPath: "/litmus-" + id,
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace}, {Type: specs.MountNamespace}, {Type: specs.NetworkNamespace},
				{Type: specs.IPCNamespace}, {Type: specs.UTSNamespace},
			},
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600)
}

func runBundle(ctx context.Context, runtime, dir, id string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	root := filepath.Join(dir, "state")
	cmd := exec.CommandContext(ctx, runtime, "--root", root, "run", "--bundle", dir, id)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	// It may have failed half way.
	cleanup := exec.CommandContext(context.WithoutCancel(ctx), runtime, "--root", root, "delete", "--force", id)
	cleanup.Run()
	return fmt.Errorf("%s can't run a container: %w: %s", runtime, err, bytes.TrimSpace(out))
}
