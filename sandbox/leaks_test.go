package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/cio"
	"golang.org/x/sys/unix"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestNothingIsLeftWhenAnEngineIsClosed(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		t.Run("on "+string(daemon), func(t *testing.T) {
			config := sandboxtest.Config(t, daemon)
			before := sandboxtest.Traces(t, config.StateDir, config.Address)
			engine := sandboxtest.Open(t, config)
			if _, err := engine.Image(t.Context(), "builtin"); err != nil {
				t.Fatal(err)
			}
			idle := sandboxtest.Traces(t, config.StateDir, engine.Address())

			task := startTask(t, engine, "box", cio.NullIO, "/bin/sleep", "1000")
			if err := task.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			during := sandboxtest.Traces(t, config.StateDir, engine.Address())
			for _, kind := range []string{"container box", "task box", "mount ", "process of a box ", "shim: ", "directory /sys/fs/cgroup"} {
				if slices.ContainsFunc(idle, hasPrefix(kind)) || !slices.ContainsFunc(during, hasPrefix(kind)) {
					t.Errorf("%q: idle %q, with a box %q", kind, idle, during)
				}
			}
			removeTask(t, engine, task)
			if err := engine.Close(); err != nil {
				t.Fatal(err)
			}
			if after := sandboxtest.Traces(t, config.StateDir, config.Address); !slices.Equal(before, after) {
				t.Errorf("before %q, after %q", before, after)
			}
		})
	}
}

func hasPrefix(prefix string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, prefix) }
}

func TestThePrivateDaemonDiesWithAKilledLitmus(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	var daemon int
	killedRunThen(t, config.StateDir, "", func() {
		daemon = openDaemon(t, filepath.Join(config.StateDir, "0", "root"))
	})
	defer unix.Close(daemon)
	fds := []unix.PollFd{{Fd: int32(daemon), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, int((20 * time.Second).Milliseconds())); n != 1 {
		t.Errorf("it lives on: %d, %v", n, err)
	}
	engine := sandboxtest.Open(t, config) // removes the victim's box
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	sandboxtest.NoTraces(t, config.StateDir, "")
}

// openDaemon returns a pidfd of the private daemon with the given root.
func openDaemon(t *testing.T, root string) int {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, proc := range procs {
		line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		if err != nil || !bytes.Contains(line, []byte("\x00"+root+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	t.Fatalf("no daemon has the root %s", root)
	return -1
}

func TestADaemonThatDiesIsAnErrorAndTheNextEngineCleansUp(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	engine, err := sandbox.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	task := startTask(t, engine, "orphan", cio.NullIO, "/bin/sleep", "1000")
	if err := task.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	daemon := openDaemon(t, filepath.Join(config.StateDir, "0", "root"))
	defer unix.Close(daemon)
	if err := unix.PidfdSendSignal(daemon, unix.SIGKILL, nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err == nil {
		t.Error("closed without an error")
	}
	engine = sandboxtest.Open(t, config)
	if got, err := engine.Reclaim(t.Context()); err != nil || got.Containers != 1 || got.Leases != 1 {
		t.Errorf("reclaimed %+v, %v", got, err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	sandboxtest.NoTraces(t, config.StateDir, "")
}
