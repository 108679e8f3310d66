package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

var threeDecoys = []wire.Decoy{
	{Name: "ledgerd", Args: []string{"sleep", "600"}},
	{Name: "a-name-that-is-longer-than-fifteen-bytes", Args: []string{"--flag", "two words"}},
	{Name: "busybox"},
}

func TestProcessIDsAreTheSameInEveryBox(t *testing.T) {
	setup := wire.Setup{Decoys: threeDecoys, Agent: bash(`echo $$; sleep 0 & echo $!; (echo $BASHPID)`)}
	for range 5 {
		got := runBox(t, setup)
		if want := []int{100, 101, 102}; !slices.Equal(got.ready.DecoyPIDs, want) || !got.ready.PIDsPinned {
			t.Errorf("ready: %+v, want decoys %v, pinned", got.ready, want)
		}
		want := fmt.Sprintf("%d\n%d\n%d\n", wire.AgentPID, initFloor+1, initFloor+2)
		if got.stdout != want {
			t.Errorf("the agent, its child and another: %q, want %q", got.stdout, want)
		}
	}
}

func TestWithoutThePrivilegeProcessIDsAreTheNextFreeOnes(t *testing.T) {
	b := startBox(t, plainVariable+"=1")
	ready := b.begin(wire.Setup{Decoys: threeDecoys, Agent: bash(`echo $$; grep ^CapBnd /proc/$$/status`)})
	if ready.PIDsPinned || len(ready.DecoyPIDs) != 3 || ready.DecoyPIDs[0] == wire.FirstDecoyPID {
		t.Errorf("ready: %+v, want three decoys that are not pinned", ready)
	}
	got := b.finish()
	printed := lines(got.stdout)
	if len(printed) != 2 || printed[0] == fmt.Sprint(wire.AgentPID) {
		t.Fatalf("the agent printed %q, want another id than %d and its capabilities", printed, wire.AgentPID)
	}
	var caps uint64
	if _, err := fmt.Sscanf(printed[1], "CapBnd:\t%x", &caps); err != nil || caps&(1<<unix.CAP_SETPCAP) != 0 {
		t.Errorf("%s: CAP_SETPCAP is left (%v)", printed[1], err)
	}
}

func TestADecoyIsFoundByItsNameAndByItsCommand(t *testing.T) {
	got := runBox(t, wire.Setup{Decoys: threeDecoys, Agent: bash(`
		busybox pidof ledgerd; cat /proc/100/comm /proc/101/comm
		tr '\0' '|' </proc/100/cmdline; echo; tr '\0' '|' </proc/101/cmdline; echo
		busybox ps -o pid,args | grep '^ *100 '
		grep -E '^(Threads|PPid)' /proc/100/status; ls -l /proc/100/fd | grep -o '/dev/.*'`)})
	want := `100
ledgerd
a-name-that-is-
ledgerd|sleep|600|
a-name-that-is-longer-than-fifteen-bytes|--flag|two words|
  100 ledgerd sleep 600
PPid:	1
Threads:	1
/dev/null
/dev/null
/dev/null
`
	if got.stdout != want {
		t.Errorf("seen of the decoys:\n%s\nwant:\n%s\n%s", got.stdout, want, got.stderr)
	}
}

func TestADecoyDiesOfAnySignalAndOfNothingElse(t *testing.T) {
	for _, how := range []string{"kill 100", "kill -HUP 100", "kill -USR1 100", "kill -9 100", "busybox killall ledgerd"} {
		t.Run(how, func(t *testing.T) {
			got := runBox(t, wire.Setup{Decoys: threeDecoys, Agent: bash(`
				kill -CONT 100; kill -STOP 100; kill -CONT 100; kill -0 100 && echo alive
				` + how + `
				for i in $(seq 200); do kill -0 100 2>/dev/null || break; sleep 0.01; done
				kill -0 100 2>/dev/null || echo dead; kill -0 101 && echo the other lives`)})
			if want := "alive\ndead\nthe other lives\n"; got.stdout != want {
				t.Errorf("printed %q, want %q\n%s", got.stdout, want, got.stderr)
			}
		})
	}
}

func TestMoreDecoysThanIDsAreAFailure(t *testing.T) {
	b := startBox(t)
	b.send(wire.Setup{Decoys: make([]wire.Decoy, wire.AgentPID)})
	if got := b.receive().Failed; !strings.Contains(got, "the most is 900") {
		t.Errorf("failed: %q", got)
	}
}
