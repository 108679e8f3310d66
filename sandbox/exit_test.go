package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"litmus/sandbox"
)

func TestHowABoxEnds(t *testing.T) {
	const survivor = "(setsid bash -c 'trap \"\" TERM HUP; (setsid bash -c \"while true; do :; done\" &)' >/dev/null 2>&1 &); "
	tests := []struct {
		name   string
		script string
		limit  func(*sandbox.Limits)
		want   sandbox.Exit
		also   func(sandbox.Outcome) error
	}{
		{"by an exit code", "exit 7", nil, sandbox.Exit{Cause: sandbox.Exited, Code: 7}, nil},
		{"by a signal of its own", "kill -TERM $$", nil, sandbox.Exit{Cause: sandbox.Exited, Code: -1, Signal: 15}, nil},
		{"by its own end, with others left behind", survivor + "exit 0", nil, sandbox.Exit{Cause: sandbox.Exited}, aliveAtTheEnd},
		{"by the deadline, in a loop", "while true; do :; done", deadline(300 * time.Millisecond), sandbox.Exit{Cause: sandbox.Deadline, Code: -1}, aliveAtTheEnd},
		{"by the deadline, with children in sessions of their own", survivor + survivor + "sleep 1000", deadline(500 * time.Millisecond), sandbox.Exit{Cause: sandbox.Deadline, Code: -1}, aliveAtTheEnd},
		{"by the deadline, stopped by itself", "kill -STOP $$", deadline(300 * time.Millisecond), sandbox.Exit{Cause: sandbox.Deadline, Code: -1}, aliveAtTheEnd},
		{"by the want of memory", "exec tail /dev/zero", memory(48 << 20), sandbox.Exit{Cause: sandbox.Memory, Code: -1, Signal: 9}, oomKilled},
		{"by itself after a child met the memory limit", "tail /dev/zero; exit 4", memory(48 << 20), sandbox.Exit{Cause: sandbox.Exited, Code: 4}, oomKilled},
		{"by a fork bomb that ends at the deadline", "bomb() { bomb | bomb & }; bomb; sleep 1000", deadline(time.Second), sandbox.Exit{Cause: sandbox.Deadline, Code: -1}, pidsRefused},
		{"not by killing the first process", "kill -KILL 1; kill -KILL -1; exit 5", nil, sandbox.Exit{Cause: sandbox.Exited, Code: 5}, nil},
	}
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				spec := b.spec(tt.script)
				if tt.limit != nil {
					tt.limit(&spec.Limits)
				}
				outcome := b.run(t, spec)
				if outcome.Exit != tt.want {
					t.Errorf("exit %+v, want %+v (%s)", outcome.Exit, tt.want, outcome.Stderr.Head)
				}
				if tt.also != nil {
					if err := tt.also(outcome); err != nil {
						t.Errorf("%v: %+v", err, outcome.Facts)
					}
				}
			})
		}
	})
}

func deadline(d time.Duration) func(*sandbox.Limits) {
	return func(l *sandbox.Limits) { l.Deadline = d }
}

func memory(bytes int64) func(*sandbox.Limits) {
	return func(l *sandbox.Limits) { l.Memory = bytes }
}

func aliveAtTheEnd(o sandbox.Outcome) error {
	if len(o.Facts.Processes) < 2 { // one is litmus-init
		return errors.New("nothing was alive when the box was frozen")
	}
	return nil
}

func oomKilled(o sandbox.Outcome) error {
	if o.Facts.LimitsHit.OOMKills == 0 || o.Facts.MemoryPeak == 0 {
		return errors.New("no kill for memory was counted")
	}
	return nil
}

func pidsRefused(o sandbox.Outcome) error {
	if o.Facts.LimitsHit.Pids == 0 {
		return errors.New("no refusal of a process was counted")
	}
	return nil
}

func TestACommandThatCantBeExecutedIsTheAgentsOwnEnd(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec("")
		spec.Agent.Args = []string{"/none"}
		outcome := b.run(t, spec)
		if outcome.Exit.Cause != sandbox.StartError || !strings.Contains(outcome.Exit.Detail, "/none") {
			t.Errorf("exit %+v", outcome.Exit)
		}
	})
}

// rendezvous is a model gateway that tells when the agent has connected.
func rendezvous(t *testing.T, spec *sandbox.Spec) net.Listener {
	t.Helper()
	spec.Gateway = filepath.Join(t.TempDir(), "gateway.sock")
	l, err := net.Listen("unix", spec.Gateway)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

const meet = "exec 3<>/dev/tcp/127.0.0.1/13131; "

func TestALostInitIsSeenAtOnce(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec(meet + "sleep 1000")
		l := rendezvous(t, &spec)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			killInit(t, b.CgroupPath(""))
		}()
		outcome := b.run(t, spec)
		if outcome.Exit.Cause != sandbox.InitLost {
			t.Errorf("exit %+v", outcome.Exit)
		}
	})
}

// killInit kills the first process of the one box that there is below a cgroup.
func killInit(t *testing.T, parent string) {
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Error(err)
	}
	for _, proc := range procs {
		command, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		cgroup, _ := os.ReadFile(filepath.Join(proc, "cgroup"))
		if string(command) == "/.litmus/init\x00" && strings.Contains(string(cgroup), parent) {
			var pid int
			fmt.Sscan(filepath.Base(proc), &pid)
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("no litmus-init is there to be killed")
}

func TestACancelledBoxIsAnErrorAndLeavesNothing(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		b.run(t, b.spec("true"))
		before := b.traces(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		spec := b.spec(meet + "(setsid sleep 1000 &); sleep 1000")
		l := rendezvous(t, &spec)
		go func() {
			if conn, err := l.Accept(); err == nil {
				defer conn.Close()
				cancel()
			}
		}()
		if _, err := b.Run(ctx, spec); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if after := b.traces(t); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
	})
}

// A creation that was given up while containerd was at it once left its shim: in
// the harnesses of others that is how pods leak.
func TestABoxThatIsCancelledAtAnyMomentLeavesNothing(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		b.run(t, b.spec("true"))
		before := b.traces(t)
		for moment := time.Duration(0); moment < 160*time.Millisecond; moment += 8 * time.Millisecond {
			ctx, cancel := context.WithTimeout(t.Context(), moment)
			_, err := b.Run(ctx, b.spec("sleep 1000"))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled after %s: %v", moment, err)
			}
			if after := b.traces(t); !slices.Equal(before, after) {
				t.Fatalf("cancelled after %s:\nbefore %q\nafter %q", moment, before, after)
			}
		}
	})
}

func TestABoxThatCantBeMadeIsAnErrorAndLeavesNothing(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		b.run(t, b.spec("true"))
		before := b.traces(t)
		var specError *sandbox.SpecError
		var stageError *sandbox.StageError
		for _, tt := range []struct {
			name   string
			change func(*sandbox.Spec)
			as     any
			want   string
		}{
			{"a scratch root that is not empty", func(s *sandbox.Spec) { s.Workdir = "/etc" }, nil, "the scratch root /etc is not empty in image builtin"},
			{"a scratch root under /proc", func(s *sandbox.Spec) { s.Workdir = "/proc/x" }, &specError, "not part of the root file system"},
			{"a file below a file", func(s *sandbox.Spec) { s.Tree = append(s.Tree, file("/etc/passwd/x", "")) }, &stageError, "staging /etc/passwd/x"},
			{"a file twice", func(s *sandbox.Spec) { s.Tree = append(s.Tree, file("/a", ""), file("/a", "")) }, &specError, `"/a" is there twice`},
			{"a path that goes up", func(s *sandbox.Spec) { s.Tree = append(s.Tree, file("/a/../b", "")) }, &specError, `"/a/../b" is not a plain path`},
			{"a relative path to watch", func(s *sandbox.Spec) { s.Watch = []string{"etc"} }, &specError, "not an absolute path"},
			{"no limit", func(s *sandbox.Spec) { s.Limits.Pids = 0 }, &specError, "pids is 0"},
			{"a host that is not in the box", func(s *sandbox.Spec) { s.Listeners = []sandbox.Endpoint{{Host: "192.0.2.1", Port: 1}} }, &specError, "not a loopback address"},
			{"two recorders at one address", func(s *sandbox.Spec) {
				s.Listeners = []sandbox.Endpoint{{Host: "127.0.0.1", Port: 80}, {Host: "127.0.0.1", Port: 80}}
			}, &specError, "127.0.0.1:80 is taken"},
			{"a recorder in the gateway's place", func(s *sandbox.Spec) { s.Listeners = []sandbox.Endpoint{{Host: "localhost", Port: 13131}} }, &specError, "127.0.0.1:13131 is taken"},
			{"more decoys than there are process ids for", func(s *sandbox.Spec) { s.Decoys = make([]sandbox.Process, 901) }, &specError, "the most is 900"},
			{"a decoy that init refuses", func(s *sandbox.Spec) { s.Decoys = []sandbox.Process{{Name: "a\x00b"}} }, nil, "litmus-init: "},
			{"less memory than anything takes", func(s *sandbox.Spec) { s.Limits.Memory = 1 }, nil, "start: "},
		} {
			spec := b.spec("true")
			tt.change(&spec)
			_, err := b.Run(t.Context(), spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.as != nil && !errors.As(err, tt.as) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if after := b.traces(t); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
	})
}
