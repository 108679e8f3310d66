package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// program is something to execute. It starts in a session of its own.
type program struct {
	path      string   // what is executed, relative to dir
	image     *os.File // executed in place of path where it is set
	args, env []string
	dir       string
	stdin     *os.File // nil is /dev/null
	// quiet sends stdout and stderr to /dev/null; they are PID 1's otherwise.
	quiet bool
	// says marks a program that closes descriptor 3 when it has come to rest.
	// Only then is it started.
	says bool
}

// execError is a command that cannot be executed, which is the command's fault
// and not the harness's.
type execError struct {
	Command string
	Err     error
}

func (e *execError) Error() string { return fmt.Sprintf("executing %q: %v", e.Command, e.Err) }
func (e *execError) Unwrap() error { return e.Err }

// script prepares the system calls that make a forked child into p. Failures go
// to report. The second result keeps alive what the calls point to.
func (p program) script(c *confinement, null, report *os.File) (*script, *memory, error) {
	var keep memory
	stdin := p.stdin
	if stdin == nil {
		stdin = null
	}
	calls := resetSignals(&keep)
	calls = append(calls,
		call{name: "setsid", nr: unix.SYS_SETSID},
		duplicate(stdin, 0))
	if p.quiet {
		calls = append(calls, duplicate(null, 1), duplicate(null, 2))
	}
	dir, err := keep.text(p.dir)
	if err != nil {
		return nil, nil, err
	}
	calls = append(calls, call{name: "chdir " + p.dir, nr: unix.SYS_CHDIR, args: [6]uintptr{dir}})
	calls = append(calls, c.calls()...)
	first := uintptr(3)
	if p.says {
		// PID 1's own descriptor 3 is the control connection: it is none of those
		// that are still needed here.
		calls = append(calls, duplicate(report, 3))
		first = 4
	}
	execute, err := p.execute(&keep)
	if err != nil {
		return nil, nil, err
	}
	calls = append(calls,
		call{name: "close_range", nr: unix.SYS_CLOSE_RANGE, args: [6]uintptr{first, maxFD, unix.CLOSE_RANGE_CLOEXEC}},
		call{name: "sigprocmask", nr: unix.SYS_RT_SIGPROCMASK, args: [6]uintptr{
			unix.SIG_SETMASK, address(&keep, &unix.Sigset_t{}), 0, signalSetSize,
		}},
		execute)
	return &script{calls: calls, report: report.Fd()}, &keep, nil
}

// maxFD is the highest descriptor that close_range takes.
const maxFD = 1<<32 - 1

// signalSetSize is the size of the kernel's sigset_t.
const signalSetSize = 8

// execute is the last call of a program.
func (p program) execute(keep *memory) (call, error) {
	args, err := keep.list(p.args)
	if err != nil {
		return call{}, &execError{p.args[0], err}
	}
	env, err := keep.list(p.env)
	if err != nil {
		return call{}, &execError{p.args[0], err}
	}
	path, err := keep.text(p.path)
	if err != nil {
		return call{}, &execError{p.args[0], err}
	}
	if p.image != nil {
		return call{name: execName, nr: unix.SYS_EXECVEAT, args: [6]uintptr{
			p.image.Fd(), path, args, env, unix.AT_EMPTY_PATH,
		}}, nil
	}
	return call{name: execName, nr: unix.SYS_EXECVE, args: [6]uintptr{path, args, env}}, nil
}

// execName is the name of the call whose failure is the command's.
const execName = "execve"

// duplicate makes descriptor to a copy of from.
func duplicate(from *os.File, to uintptr) call {
	return call{name: "dup3", nr: unix.SYS_DUP3, args: [6]uintptr{from.Fd(), to}}
}

// resetSignals gives every signal its default action. Exec does so for handlers
// but lets through what PID 1 ignores. SIGKILL and SIGSTOP refuse.
func resetSignals(keep *memory) []call {
	// struct kernel_sigaction; its zero value is SIG_DFL, no flags, an empty mask.
	standard := address(keep, new([4]uint64))
	var calls []call
	for number := uintptr(1); number <= lastSignal; number++ {
		calls = append(calls, call{name: "sigaction", nr: unix.SYS_RT_SIGACTION,
			args: [6]uintptr{number, standard, 0, signalSetSize}, optional: true})
	}
	return calls
}

// awaitExec returns nil when the child has executed its program, and otherwise
// what it reported. Its own copy of the report pipe's writing end is closed.
func awaitExec(report io.Reader, s *script, command string) error {
	var failed [2]int32
	switch err := binary.Read(report, binary.NativeEndian, &failed); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("waiting for %q to start: %w", command, err)
	case failed[0] < 0 || int(failed[0]) >= len(s.calls):
		return fmt.Errorf("waiting for %q to start: a report about step %d", command, failed[0])
	}
	step, errno := s.calls[failed[0]].name, unix.Errno(failed[1])
	if step == execName {
		return &execError{command, errno}
	}
	return fmt.Errorf("starting %q: %s: %w", command, step, errno)
}
