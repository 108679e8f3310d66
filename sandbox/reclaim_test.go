package sandbox_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/pkg/cio"
	"golang.org/x/sys/unix"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

// victimVariable is set in the process that is killed: "STATE ADDRESS".
const victimVariable = "LITMUS_TEST_VICTIM"

// TestVictim is no test but the process that others kill: it opens an engine,
// starts a box that will not end, says so, and waits for its death.
func TestVictim(t *testing.T) {
	stateDir, address, ok := strings.Cut(os.Getenv(victimVariable), " ")
	if !ok {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := sandbox.Open(t.Context(), sandbox.Config{StateDir: stateDir, Exe: exe, Address: address})
	if err != nil {
		t.Fatal(err)
	}
	// Never reached by a killed process. But without a use of it the engine would
	// be garbage from here on, and its daemon end with it.
	defer engine.Close()
	task := startTask(t, engine, "victim", cio.NullIO, "/bin/bash", "-c", "trap '' TERM; (sleep 1000 &); sleep 1000")
	if err := task.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LITMUS_TEST_FROZEN") != "" {
		if err := task.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("victim: ready")
	select {}
}

// killedRun runs a victim and kills it with SIGKILL when its box runs.
func killedRun(t *testing.T, stateDir, address string, env ...string) {
	t.Helper()
	killedRunThen(t, stateDir, address, func() {}, env...)
}

// killedRunThen looks around before it kills the victim.
func killedRunThen(t *testing.T, stateDir, address string, look func(), env ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), append(env, victimVariable+"="+stateDir+" "+address)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if lines.Text() == "victim: ready" {
			break
		}
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if !slices.Contains(said, "victim: ready") {
		t.Fatalf("the victim was not ready: %q", said)
	}
	look()
}

func TestReclaimRemovesEverythingOfAKilledProcess(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		for _, env := range []string{"", "LITMUS_TEST_FROZEN=1"} {
			t.Run(fmt.Sprintf("on %s %s", daemon, env), func(t *testing.T) {
				config := sandboxtest.Config(t, daemon)
				before := sandboxtest.Traces(t, config.StateDir, config.Address)
				killedRun(t, config.StateDir, config.Address, env)
				left := sandboxtest.Traces(t, config.StateDir, config.Address)
				for _, kind := range []string{"mount ", "process of a box ", "directory /sys/fs/cgroup", "directory " + config.StateDir} {
					if !slices.ContainsFunc(left, hasPrefix(kind)) {
						t.Errorf("the killed process should have left a %q: %q", kind, left)
					}
				}
				engine := sandboxtest.Open(t, config)
				got, err := engine.Reclaim(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%+v", got)
				if got.Containers != 1 || got.Processes == 0 || got.Mounts != 1 || got.Snapshots != 1 || got.Leases != 1 || got.Directories != 1 {
					t.Errorf("reclaimed %+v", got)
				}
				again, err := engine.Reclaim(t.Context())
				if err != nil || !isNothing(again) {
					t.Errorf("a second time: %+v, %v", again, err)
				}
				if err := engine.Close(); err != nil {
					t.Fatal(err)
				}
				if after := sandboxtest.Traces(t, config.StateDir, config.Address); !slices.Equal(before, after) {
					t.Errorf("before %q, after %q", before, after)
				}
			})
		}
	}
}

func isNothing(r sandbox.Reclaimed) bool {
	return r.Tasks+r.Containers+r.Shims+r.Processes+r.Cgroups+r.Mounts+r.Snapshots+r.Leases+r.Directories == 0 &&
		len(r.Unclear) == 0
}

func TestReclaimDoesNotNeedTheShimsToBeAlive(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	killedRun(t, config.StateDir, "")
	killByDirectory(t, filepath.Join(config.StateDir, "0", "state"))
	engine := sandboxtest.Open(t, config)
	if _, err := engine.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	sandboxtest.NoTraces(t, config.StateDir, "")
}

// killByDirectory kills the processes that work in a directory.
func killByDirectory(t *testing.T, dir string) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, proc := range procs {
		if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil && strings.HasPrefix(cwd, dir+"/") {
			var pid int
			fmt.Sscan(filepath.Base(proc), &pid)
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed == 0 {
		t.Fatalf("no process works in %s", dir)
	}
}

func TestReclaimDoesNotTouchALivingProcess(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		t.Run("on "+string(daemon), func(t *testing.T) {
			config := sandboxtest.Config(t, daemon)
			living := sandboxtest.Open(t, config)
			task := startTask(t, living, "living", cio.NullIO, "/bin/sleep", "1000")
			defer removeTask(t, living, task)
			if err := task.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			other := sandboxtest.Open(t, config)
			if living.SlotDir() == other.SlotDir() {
				t.Fatal("two engines in one slot")
			}
			if got, err := other.Reclaim(t.Context()); err != nil || !isNothing(got) {
				t.Errorf("reclaimed %+v, %v", got, err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			status, err := task.Status(t.Context())
			if err != nil || status.Status != "running" {
				t.Errorf("the other's task is %v, %v", status, err)
			}
		})
	}
}

func TestAnOwnerThatCantBeSeenIsLeftAloneAndReported(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Debian)
	stateDir := t.TempDir()
	killedRun(t, stateDir, config.Address)
	hidden := stateDir + "-hidden"
	// What is mounted in it moves along.
	if err := os.Rename(stateDir, hidden); err != nil {
		t.Fatal(err)
	}
	engine := sandboxtest.Open(t, config)
	got, err := engine.Reclaim(t.Context())
	if err != nil || !slices.Equal(got.Unclear, []string{filepath.Join(stateDir, "0")}) || got.Containers != 0 {
		t.Errorf("reclaimed %+v, %v", got, err)
	}
	if err := os.Rename(hidden, stateDir); err != nil {
		t.Fatal(err)
	}
	got, err = engine.Reclaim(t.Context())
	if err != nil || len(got.Unclear) != 0 || got.Containers != 1 {
		t.Errorf("reclaimed %+v, %v", got, err)
	}
	sandboxtest.NoTraces(t, stateDir, "")
}
