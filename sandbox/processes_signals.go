package sandbox

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// signalSet has bit n-1 set for signal n, as in /proc/PID/status.
type signalSet uint64

func signalsOf(numbers ...unix.Signal) (s signalSet) {
	for _, n := range numbers {
		s |= 1 << (n - 1)
	}
	return s
}

// harmless are the signals whose default is not to end the process; see signal(7).
var harmless = signalsOf(unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH,
	unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)

// signals are those of one process.
type signals struct {
	pending signalSet // sent to it or to its main thread, and not yet delivered
	masked  signalSet // blocked, ignored or caught
}

// deadly reports whether a signal that will end the process is pending.
func (s signals) deadly() bool { return s.pending&^s.masked&^harmless != 0 }

// parseSignals reads the sets out of /proc/PID/status.
func parseSignals(status string) (s signals, err error) {
	for _, line := range []struct {
		name string
		set  *signalSet
	}{
		{"SigPnd", &s.pending}, {"ShdPnd", &s.pending},
		{"SigBlk", &s.masked}, {"SigIgn", &s.masked}, {"SigCgt", &s.masked},
	} {
		bits, err := strconv.ParseUint(statusField(status, line.name), 16, 64)
		if err != nil {
			return signals{}, fmt.Errorf("signals %s: %w", line.name, err)
		}
		*line.set |= signalSet(bits)
	}
	return s, nil
}
