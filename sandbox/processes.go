package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/canon"
)

// process is one process of a box as the host sees it. A process id may be
// given again; together with the time of the start it says which process it is.
type process struct {
	pid     int // on the host
	boxPID  int
	started uint64 // in clock ticks after the host's start
	state   byte   // as in proc_pid_stat(5)
	name    string
	signals signals
}

// alive reports whether the process would go on if the box were let go. One
// that was frozen with a deadly signal on its way would not: whether the signal
// got there in time is a matter of luck, and evidence must not be.
func (p process) alive() bool { return p.state != 'Z' && p.state != 'X' && !p.signals.deadly() }

// is reports whether p and other are the same process.
func (p process) is(other process) bool { return p.pid == other.pid && p.started == other.started }

// errGone says that a process ended before it could be looked at.
var errGone = errors.New("process is gone")

// readProcess describes a process by its directory under /proc.
func readProcess(pid int) (process, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := readProc(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, err
	}
	p, err := parseStat(stat)
	if err != nil {
		return process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	status, err := readProc(filepath.Join(dir, "status"))
	if err != nil {
		return process{}, err
	}
	p.pid = pid
	if p.boxPID, err = parseNSpid(status); err != nil {
		return process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if p.signals, err = parseSignals(status); err != nil {
		return process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return p, nil
}

// readProc reads a file of a process, which may end at any time.
func readProc(name string) (string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return "", errGone
	}
	return string(b), err
}

// parseStat reads /proc/PID/stat. The name is in parentheses and may itself
// have some, and anything else in it.
func parseStat(text string) (process, error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return process{}, fmt.Errorf("stat without a name: %q", text)
	}
	fields := strings.Fields(text[end+1:])
	// proc(5) numbers the state 3 and the time of start 22; fields begins with the state.
	const state, starttime = 0, 22 - 3
	if len(fields) <= starttime || len(fields[state]) != 1 {
		return process{}, fmt.Errorf("stat with %d fields", len(fields))
	}
	started, err := strconv.ParseUint(fields[starttime], 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("time of start: %w", err)
	}
	return process{name: text[open+1 : end], state: fields[state][0], started: started}, nil
}

// parseNSpid finds in /proc/PID/status the process id in the innermost namespace.
func parseNSpid(status string) (int, error) {
	ids := strings.Fields(statusField(status, "NSpid"))
	if len(ids) == 0 {
		return 0, errors.New("status without NSpid")
	}
	return strconv.Atoi(ids[len(ids)-1])
}

// statusField is the value of a line of /proc/PID/status; empty if there is none.
// The name of the process, which comes first, can't imitate one: line feeds in
// it are escaped.
func statusField(status, name string) string {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// readProcesses describes all processes that are there.
func readProcesses(pids []int) ([]process, error) {
	processes := make([]process, 0, len(pids))
	for _, pid := range pids {
		p, err := readProcess(pid)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		processes = append(processes, p)
	}
	return processes, nil
}

// describe adds the arguments, as far as they can be read, for people to see.
func (p process) describe() ProcessState {
	s := ProcessState{PID: p.boxPID, Name: canon.Text([]byte(p.name))}
	const enough = 4096 // arguments may be as long as the stack allows
	f, err := os.Open(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	if err != nil {
		return s
	}
	defer f.Close()
	line, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil || len(line) == 0 {
		return s
	}
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		s.Args = append(s.Args, canon.Text(arg))
	}
	return s
}
