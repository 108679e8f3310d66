package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

func TestExitIsTheAgentsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   wire.Exited
	}{
		"a code is a code":                         {"exit 42", wire.Exited{Code: 42}},
		"a signal is a signal":                     {"kill -TERM $$", wire.Exited{Code: -1, Signal: int(unix.SIGTERM)}},
		"background processes do not hold it back": {"sleep 600 & exit 3", wire.Exited{Code: 3}},
		"a stopped orphan does not hold it back":   {"(kill -STOP $BASHPID) & exit 4", wire.Exited{Code: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runBox(t, wire.Setup{Agent: bash(c.script)}).exited; got != c.want {
				t.Errorf("exited %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestACommandThatCannotBeExecutedIsAStartError(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"no such file":          {"/nowhere", `executing "/nowhere": no such file or directory`},
		"not in PATH":           {"nowhere", `executing "nowhere": not found in PATH`},
		"a folder":              {"/etc", `executing "/etc": permission denied`},
		"a NUL in the argument": {"/bin/\x00sh", "executing \"/bin/\\x00sh\": invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			command := bash("")
			command.Args = []string{c.path}
			if got := runBox(t, wire.Setup{Agent: command}).exited; got.StartError != c.want {
				t.Errorf("exited %+v, want start error %s", got, c.want)
			}
		})
	}
}

func TestAgentGetsItsEnvironmentInputAndFolderAndNothingElse(t *testing.T) {
	command := bash(`cat; pwd; tr '\0' '\n' </proc/$$/environ; cat /proc/$$/oom_score_adj; echo $(ls /proc/self/fd); ` +
		`read -r _ _ _ _ _ session _ </proc/$$/stat; echo $session; exec grep -E '^Sig(Blk|Ign)' /proc/self/status`)
	command.Stdin = []byte("the input\n")
	got := runBox(t, wire.Setup{Agent: command})
	want := []string{"the input", "/scratch", "PATH=/usr/bin:/bin", "LC_ALL=C", "0",
		"0 1 2 3", // 3 is the folder that ls is listing
		fmt.Sprint(wire.AgentPID),
		"SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"}
	if printed := lines(got.stdout); !slices.Equal(printed, want) {
		t.Errorf("the agent sees\n%q\nwant\n%q\nstderr: %s", printed, want, got.stderr)
	}
}

func TestALongInputThatIsNotReadHoldsNothingBack(t *testing.T) {
	command := bash("exit 7")
	command.Stdin = make([]byte, 4<<20)
	if got := runBox(t, wire.Setup{Agent: command}).exited; got.Code != 7 {
		t.Errorf("exited %+v, want code 7", got)
	}
}

func TestOrphansAreReaped(t *testing.T) {
	got := runBox(t, wire.Setup{Agent: bash(`
		for i in $(seq 50); do (true & true &) ; done
		for i in $(seq 100); do busybox ps -o stat | grep -q Z || { echo clean; exit; }; sleep 0.05; done
		busybox ps -o pid,ppid,stat,args`)})
	if got.stdout != "clean\n" {
		t.Errorf("zombies are left:\n%s%s", got.stdout, got.stderr)
	}
}

func TestPID1CannotBeSignalledFromInside(t *testing.T) {
	got := runBox(t, wire.Setup{Agent: bash(`
		for s in $(seq 64); do kill -$s 1; done 2>/dev/null
		kill -0 1 && echo alive; exit 5`)})
	if got.stdout != "alive\n" || got.exited.Code != 5 {
		t.Errorf("printed %q, exited %+v, want init to live and code 5", got.stdout, got.exited)
	}
}

func TestPID1IsClosedToTheBox(t *testing.T) {
	got := runBox(t, wire.Setup{Agent: bash(`
		cat /proc/1/environ /proc/1/maps; ls /proc/1/cwd/; head -c1 /proc/1/mem; : </proc/1/fd/0`)})
	if got.stdout != "" || strings.Count(got.stderr, "Permission denied") != 5 {
		t.Errorf("the box reads of PID 1:\n%s\n%s", got.stdout, got.stderr)
	}
	// The kernel refuses the above for the capabilities of PID 1's own, too.
	if !strings.HasSuffix(got.stderr, "dumpable 0\n") {
		t.Errorf("PID 1 is dumpable: %s", got.stderr)
	}
}

func TestWhatInitStartsIsConfined(t *testing.T) {
	got := runBox(t, wire.Setup{
		Decoys: []wire.Decoy{{Name: "d", Args: []string{"sleep", "600"}}},
		Agent: bash(fmt.Sprintf(
			`for p in $$ %d; do grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/$p/status; done`, wire.FirstDecoyPID)),
	})
	const forbidden = uint64(1<<unix.CAP_CHECKPOINT_RESTORE | 1<<unix.CAP_SETPCAP)
	printed := lines(got.stdout)
	if len(printed) != 14 {
		t.Fatalf("%d lines of status, want 14:\n%s", len(printed), got.stdout)
	}
	for _, line := range printed {
		name, value, _ := strings.Cut(line, ":\t")
		switch {
		case strings.HasPrefix(name, "Cap"):
			var caps uint64
			if _, err := fmt.Sscanf(value, "%x", &caps); err != nil || caps&forbidden != 0 {
				t.Errorf("%s = %s has a capability of init's own (%v)", name, value, err)
			}
			if (name == "CapBnd" || name == "CapEff") && caps == 0 {
				t.Errorf("%s is empty: this test sees nothing", name)
			}
		case name == "NoNewPrivs" && value != "1", name == "Seccomp" && value != "2":
			t.Errorf("%s is %s", name, value)
		}
	}
}

func TestClone3IsRefusedToTheAgent(t *testing.T) {
	got := runBox(t, wire.Setup{Agent: wire.Command{
		Args: []string{wire.InitPath}, Env: []string{roleVariable + "=clone3"}, Dir: "/",
	}})
	if want := "function not implemented\n"; got.stdout != want {
		t.Errorf("clone3 in the agent: %q, want %q\n%s", got.stdout, want, got.stderr)
	}
}

func TestAFailedSetupIsSaidAndTheBoxWaits(t *testing.T) {
	for name, c := range map[string]struct {
		setup wire.Setup
		want  string
	}{
		"an address outside": {wire.Setup{Listeners: []wire.Listener{{Host: "h", Address: "10.0.0.1", Port: 80}}},
			`listening for h: "10.0.0.1" is not a loopback address`},
		"the gateway's own port": {wire.Setup{Listeners: []wire.Listener{{Host: "h", Address: "127.0.0.1", Port: 13131}}},
			"listening for h: listen tcp 127.0.0.1:13131: bind: address already in use"},
		"a capture without bounds": {wire.Setup{CaptureLimit: 1 << 40},
			"capture limit 1099511627776: it is between 0 and 8388608 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := startBox(t)
			b.send(c.setup)
			if got := b.receive().Failed; got != c.want {
				t.Errorf("failed: %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMissingFolderIsAFailureOfTheHarness(t *testing.T) {
	command := bash("true")
	command.Dir = "/nowhere"
	got := runBox(t, wire.Setup{Agent: command})
	if want := `starting "bash": chdir /nowhere: no such file or directory`; got.failed != want {
		t.Errorf("failed: %q, want %q", got.failed, want)
	}
}

func TestABrokenConnectionEndsTheBox(t *testing.T) {
	for name, during := range map[string]bool{"before the agent": false, "while it runs": true} {
		t.Run(name, func(t *testing.T) {
			b := startBox(t)
			b.begin(wire.Setup{
				Decoys: []wire.Decoy{{Name: "d"}},
				Agent:  bash(`trap "" TERM INT HUP; setsid sleep 600 & echo started >/dev/tcp/127.0.0.1/13131; while :; do sleep 600; done`),
			})
			if during {
				b.send(wire.Go{Go: true})
				conn, err := b.gateway.Accept()
				check(t, err)
				_, err = conn.Read(make([]byte, 1))
				check(t, err)
				conn.Close()
			}
			b.conn.Close()
			b.conn = nil
			// Wait returns when all that hold the output pipes have ended.
			if err := <-b.ended; err == nil || err.Error() != "exit status 1" {
				t.Errorf("init ended with %v, want exit status 1", err)
			}
		})
	}
}
