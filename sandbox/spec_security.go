package sandbox

import (
	"slices"

	"github.com/containerd/containerd/v2/contrib/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// capabilities are those of root in a container, less what no agent needs:
// making devices, raw sockets, chroot, audit records and file capabilities.
//
// The last two are for litmus-init alone, which gives processes their fixed ids
// (clone3 with set_tid) and takes both out of the bounding set of all it starts.
func capabilities() *specs.LinuxCapabilities {
	all := []string{
		"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
		"CAP_NET_BIND_SERVICE", "CAP_SETGID", "CAP_SETUID",
		"CAP_CHECKPOINT_RESTORE", "CAP_SETPCAP",
	}
	return &specs.LinuxCapabilities{Bounding: all, Effective: all, Permitted: all}
}

// seccompProfile is containerd's default, with clone3 allowed: litmus-init needs
// it, and denies it to all it starts, because a filter can't see which
// namespaces a clone3 asks for.
func seccompProfile(spec *specs.Spec) *specs.LinuxSeccomp {
	profile := seccomp.DefaultProfile(spec)
	profile.Syscalls = slices.DeleteFunc(profile.Syscalls, func(s specs.LinuxSyscall) bool {
		return s.Action == specs.ActErrno && slices.Equal(s.Names, []string{"clone3"})
	})
	profile.Syscalls = append(profile.Syscalls, specs.LinuxSyscall{Names: []string{"clone3"}, Action: specs.ActAllow})
	return profile
}

// maskedPaths read as empty in a box: they describe the host, or open ways to
// it. Directories are there only where nothing else helps: a runtime masks them
// by a file system that shows the size of the host's memory.
var maskedPaths = []string{
	"/proc/acpi/wakeup", "/proc/asound", "/proc/buddyinfo", "/proc/cmdline", "/proc/config.gz", "/proc/consoles",
	"/proc/crypto", "/proc/devices", "/proc/dma", "/proc/dynamic_debug/control", "/proc/execdomains", "/proc/fb",
	"/proc/interrupts", "/proc/iomem", "/proc/ioports", "/proc/kallsyms", "/proc/kcore", "/proc/key-users",
	"/proc/keys", "/proc/kmsg", "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags", "/proc/latency_stats",
	"/proc/locks", "/proc/mdstat", "/proc/misc", "/proc/modules", "/proc/mtrr", "/proc/pagetypeinfo",
	"/proc/partitions", "/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/irq", "/proc/pressure/memory", "/proc/sched_debug", "/proc/schedstat", "/proc/scsi/scsi", "/proc/scsi/device_info", "/proc/slabinfo",
	"/proc/softirqs", "/proc/sys/kernel/random/boot_id", "/proc/timer_list", "/proc/timer_stats", "/proc/tty/drivers", "/proc/tty/ldiscs",
	"/proc/version_signature", "/proc/vmallocinfo", "/proc/vmstat", "/proc/zoneinfo",
}

// readonlyPaths can be read but not written.
var readonlyPaths = []string{"/proc/acpi", "/proc/bus", "/proc/driver", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
