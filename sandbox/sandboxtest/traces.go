package sandboxtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/moby/sys/mountinfo"

	"litmus/internal/digest"
)

// Traces lists everything on the machine that the engines of a state directory
// have made and that ought to go when they close: mounts, cgroups in every
// hierarchy, processes of boxes with their network namespaces, shims and
// private daemons, sockets and directories of boxes. If address is that of a
// daemon, what it holds in the namespace litmus counts as well: containers,
// tasks, leases and snapshots (layers of cached images aside).
//
// It is scoped to one state directory because other tests run at the same time.
// A test compares what it returns before and after.
func Traces(t testing.TB, stateDir, address string) []string {
	t.Helper()
	traces := slices.Concat(
		mountTraces(t, stateDir),
		slotTraces(t, stateDir),
		processTraces(t, stateDir, address),
	)
	if address != "" {
		traces = append(traces, daemonTraces(t, address)...)
	}
	slices.Sort(traces)
	return traces
}

// NoTraces fails the test unless Traces is empty.
func NoTraces(t testing.TB, stateDir, address string) {
	t.Helper()
	for _, trace := range Traces(t, stateDir, address) {
		t.Errorf("left behind: %s", trace)
	}
}

func mountTraces(t testing.TB, stateDir string) []string {
	mounts, err := mountinfo.GetMounts(nil)
	if err != nil {
		t.Fatal(err)
	}
	var traces []string
	for _, m := range mounts {
		if strings.HasPrefix(m.Mountpoint, stateDir+"/") || strings.Contains(m.VFSOptions, stateDir+"/") {
			traces = append(traces, "mount "+m.Mountpoint)
		}
	}
	return traces
}

// slotNames returns the slots' directories with the names of what lies outside
// of them; docs/sandbox-daemon.md says how they are made.
func slotNames(t testing.TB, stateDir string) map[string]string {
	slots, err := filepath.Glob(filepath.Join(stateDir, "[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, slot := range slots {
		names[slot] = digest.Sum([]byte(slot)).String()[:16]
	}
	return names
}

func slotTraces(t testing.TB, stateDir string) []string {
	var traces []string
	for slot, name := range slotNames(t, stateDir) {
		for _, pattern := range []string{
			filepath.Join(slot, "boxes/*"),
			filepath.Join("/run/litmus", name),
			filepath.Join("/sys/fs/cgroup", "litmus-"+name),
			filepath.Join("/sys/fs/cgroup/*", "litmus-"+name),
		} {
			paths, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				traces = append(traces, "directory "+path)
			}
		}
	}
	return traces
}

// processTraces finds processes of boxes by their cgroup, and should they have
// left it, by what is mounted where they are; shims by the directory they work
// in or the daemon they serve; private daemons by their arguments.
func processTraces(t testing.TB, stateDir, address string) []string {
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	var traces []string
	for _, proc := range procs {
		// A process may end while it is looked at: what can't be read is gone.
		read := func(name string) string { b, _ := os.ReadFile(filepath.Join(proc, name)); return string(b) }
		link := func(name string) string { l, _ := os.Readlink(filepath.Join(proc, name)); return l }
		if strings.Contains(read("stat"), ") Z ") {
			continue // dead, and only its new parent can take it away
		}
		inBox := false
		for _, name := range slotNames(t, stateDir) {
			inBox = inBox || strings.Contains(read("cgroup"), "/litmus-"+name)
		}
		if mnt := link("ns/mnt"); mnt != "" && mnt != own {
			inBox = inBox || strings.Contains(read("mountinfo"), stateDir+"/")
		}
		command := read("cmdline")
		args := strings.ReplaceAll(strings.TrimRight(command, "\x00"), "\x00", " ")
		switch {
		case filepath.Base(proc) == fmt.Sprint(os.Getpid()):
		case inBox:
			traces = append(traces, fmt.Sprintf("process of a box in %s: %s", link("ns/net"), args))
		case strings.HasPrefix(link("cwd"), stateDir+"/"),
			address != "" && strings.Contains(command, "\x00-address\x00"+address+"\x00"):
			traces = append(traces, "shim: "+args)
		case strings.Contains(command, "\x00"+stateDir+"/"):
			traces = append(traces, "daemon: "+args)
		}
	}
	return traces
}

func daemonTraces(t testing.TB, address string) []string {
	client, err := containerd.New(address, containerd.WithDefaultNamespace("litmus"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()
	var traces []string
	containers, err := client.Containers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		traces = append(traces, "container "+c.ID())
		if _, err := c.Task(ctx, nil); err == nil {
			traces = append(traces, "task "+c.ID())
		}
	}
	leases, err := client.LeasesService().List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases {
		traces = append(traces, "lease "+l.ID)
	}
	for _, snapshotter := range []string{"overlayfs", "native"} {
		err := client.SnapshotService(snapshotter).Walk(ctx, func(_ context.Context, info snapshots.Info) error {
			if info.Kind != snapshots.KindCommitted {
				traces = append(traces, "snapshot "+info.Name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return traces
}
