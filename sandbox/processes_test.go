package sandbox

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	const rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20\n"
	for _, tt := range []struct {
		name, text string
		want       process
		ok         bool
	}{
		{"a plain name", "12 (bash)" + rest, process{name: "bash", state: 'S', started: 4242}, true},
		{"a name that looks like the end", "12 (a) Z 1 (b)" + rest, process{name: "a) Z 1 (b", state: 'S', started: 4242}, true},
		{"an empty name", "12 ()" + rest, process{state: 'S', started: 4242}, true},
		{"nothing", "", process{}, false},
		{"a name without an end", "12 (bash", process{}, false},
		{"too few fields", "12 (bash) S 1", process{}, false},
		{"a time that is none", "12 (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x", process{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat(tt.text)
			if got != tt.want || (err == nil) != tt.ok {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestParseStatus(t *testing.T) {
	const status = "Name:\tNSpid:\\n\nNSpid:\t4711\t12\t1\nSigPnd:\t0000000000000100\nShdPnd:\t0000000000004000\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000000004\n"
	if pid, err := parseNSpid(status); pid != 1 || err != nil {
		t.Errorf("process id %d, %v", pid, err)
	}
	want := signals{pending: signalsOf(unix.SIGKILL, unix.SIGTERM), masked: signalsOf(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT)}
	if s, err := parseSignals(status); s != want || err != nil {
		t.Errorf("signals %+v, %v", s, err)
	}
	for _, bad := range []string{"", "NSpid:\n", "NSpid:\tx\n"} {
		if _, err := parseNSpid(bad); err == nil {
			t.Errorf("took %q", bad)
		}
		if _, err := parseSignals(bad); err == nil {
			t.Errorf("took %q for signals", bad)
		}
	}
}

func TestWhichSignalsAreDeadly(t *testing.T) {
	for _, tt := range []struct {
		name            string
		pending, masked signalSet
		want            bool
	}{
		{"none", 0, 0, false},
		{"one whose default is the end", signalsOf(unix.SIGTERM), 0, true},
		{"one that is blocked, ignored or caught", signalsOf(unix.SIGTERM), signalsOf(unix.SIGTERM), false},
		{"one that only stops", signalsOf(unix.SIGSTOP), 0, false},
		{"a real-time signal", 1 << 40, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (signals{tt.pending, tt.masked}).deadly(); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAProcessIsReadWhileItLivesAndGoneAfterwards(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	must(t, cmd.Start())
	pid := cmd.Process.Pid
	p, err := readProcess(pid)
	if err != nil || p.pid != pid || !p.alive() || p.started == 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	if again, err := readProcess(pid); err != nil || !again.is(p) {
		t.Errorf("a second time %+v, %v", again, err)
	}
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
	if left, err := readProcesses([]int{pid, os.Getpid()}); err != nil || len(left) != 1 || left[0].pid != os.Getpid() {
		t.Errorf("got %+v, %v", left, err)
	}
}
