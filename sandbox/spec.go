package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// specVersion is the oldest that has all we use: runtimes refuse newer ones
// than they know.
const specVersion = "1.0.2"

// ociSpec is the container of a box. Its process is litmus-init; what the agent
// gets on top of that, and loses, is init's business.
func ociSpec(l *layout, limits Limits, cgroupPath string) *specs.Spec {
	spec := &specs.Spec{
		Version:  specVersion,
		Root:     &specs.Root{Path: l.rootfs()},
		Hostname: hostname,
		Mounts:   boxMounts(l),
		Process: &specs.Process{
			Args:            []string{wire.InitPath},
			Env:             baseEnvironment,
			Cwd:             "/",
			User:            specs.User{Umask: pointer(uint32(0o022))},
			Capabilities:    capabilities(),
			NoNewPrivileges: true,
			OOMScoreAdj:     pointer(0),
			Rlimits: []specs.POSIXRlimit{
				{Type: "RLIMIT_NOFILE", Hard: uint64(limits.OpenFiles), Soft: uint64(limits.OpenFiles)},
				// 1 and not 0: with 0 a core dump is still piped to the host's
				// handler; see core(5).
				{Type: "RLIMIT_CORE", Hard: 1, Soft: 1},
			},
		},
		Linux: &specs.Linux{
			CgroupsPath:   cgroupPath,
			Namespaces:    boxNamespaces(),
			MaskedPaths:   maskedPaths,
			ReadonlyPaths: readonlyPaths,
			Resources: &specs.LinuxResources{
				Memory:  memoryLimit(limits.Memory),
				Pids:    &specs.LinuxPids{Limit: pointer(int64(limits.Pids))},
				Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}}, // the runtime adds the usual ones
			},
		},
	}
	spec.Linux.Seccomp = seccompProfile(spec)
	return spec
}

func pointer[T any](v T) *T { return &v }

// baseEnvironment is the same in every box; a Spec's comes on top.
var baseEnvironment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=" + homeDir,
	"USER=root",
	"LOGNAME=root",
	"HOSTNAME=" + hostname,
	"LANG=C.UTF-8",
	"TZ=UTC",
}

// environment is the base with added variables, of which the last of a name wins.
func environment(added []string) []string {
	env := slices.Clone(baseEnvironment)
	for _, variable := range added {
		name, _, _ := strings.Cut(variable, "=")
		i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if i < 0 {
			env = append(env, variable)
		} else {
			env[i] = variable
		}
	}
	return env
}

// boxMounts are all mounts of a box but its root. There is no /sys: it describes
// the host.
func boxMounts(l *layout) []specs.Mount {
	mounts := []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		// Read-only: what is written there would be neither limited nor seen.
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "noexec", "mode=755", "size=64k", "ro"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		bind("/dev/shm", l.fs("shm"), "nosuid", "nodev", "noexec"),
		bind(wire.SocketDir, l.fs("run"), "ro", "nosuid", "nodev", "noexec"),
	}
	for _, name := range pinnedNames {
		mounts = append(mounts, bind("/proc/"+name, filepath.Join(l.fs("pinned"), name), "ro", "nosuid", "nodev", "noexec"))
	}
	return mounts
}

func bind(destination, source string, options ...string) specs.Mount {
	return specs.Mount{Destination: destination, Type: "bind", Source: source, Options: append([]string{"bind", "private"}, options...)}
}

func boxNamespaces() []specs.LinuxNamespace {
	return []specs.LinuxNamespace{
		{Type: specs.PIDNamespace}, {Type: specs.MountNamespace}, {Type: specs.NetworkNamespace},
		{Type: specs.IPCNamespace}, {Type: specs.UTSNamespace}, {Type: specs.CgroupNamespace},
	}
}

// memoryLimit bounds memory and swap together where the kernel accounts for
// swap; a runtime that is asked to where it does not refuses to start.
func memoryLimit(bytes int64) *specs.LinuxMemory {
	memory := &specs.LinuxMemory{Limit: pointer(bytes)}
	if accountsForSwap() {
		memory.Swap = pointer(bytes)
	}
	return memory
}

func accountsForSwap() bool {
	return unix.Access("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", unix.F_OK) == nil ||
		unix.Access("/sys/fs/cgroup/cgroup.controllers", unix.F_OK) == nil && unix.Access("/proc/swaps", unix.F_OK) == nil
}
