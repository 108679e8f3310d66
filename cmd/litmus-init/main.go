// Command litmus-init is everything of litmus that runs inside a box.
//
// As PID 1 (no arguments) it prepares the surroundings of the agent, starts the
// agent, says how it ended and reaps what is orphaned. As `litmus-init agent` it
// is the reference agent: a plain tool loop over OpenAI Chat Completions.
//
// It knows the words of package wire and nothing of what is outside the box.
// What runs beside it is hostile: PID 1 cannot be traced or signalled from
// inside, shares no descriptor with what it starts, and bounds what it reads.
// docs/init.md describes what it promises. Start reading at boot, the order of
// the steps.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// exitUsage is for a command line that means nothing (BSD's EX_USAGE).
const exitUsage = 64

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "agent":
		os.Exit(runAgent(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) == 1 && os.Getpid() == 1:
		err := boot()
		fmt.Fprintf(os.Stderr, "litmus-init: %v\n", err)
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "usage: litmus-init agent [--stream]\n(without arguments it is the first process of a box)")
		os.Exit(exitUsage)
	}
}

// boot is the life of PID 1. It returns only when the harness is gone, with
// everything in the box killed before.
func boot() error {
	if err := shutOut(); err != nil {
		return err
	}
	control, err := dialControl(wire.ControlSocket)
	if err != nil {
		return err
	}
	err = serve(control)
	killEverything()
	return err
}

// serve does what the harness asks, in the order that package wire fixes, and
// returns when the connection breaks.
func serve(control *control) error {
	var setup wire.Setup
	if err := control.receive(&setup); err != nil {
		return err
	}
	box, err := prepare(setup, control)
	if err != nil {
		return control.fail(err)
	}
	if err := control.send(wire.Event{Ready: box.ready()}); err != nil {
		return err
	}
	var start wire.Go
	if err := control.receive(&start); err != nil {
		return err
	}
	broken := control.watch()
	exited, err := box.runAgent(setup.Agent, broken)
	if err != nil {
		return control.fail(err)
	}
	if err := control.send(wire.Event{Exited: &exited}); err != nil {
		return err
	}
	<-broken
	return errHarnessGone
}

// shutOut keeps the rest of the box out of this process.
func shutOut() error {
	// Not dumpable: nobody without CAP_SYS_PTRACE may trace this process, read
	// its memory or open its descriptors through /proc/1/fd. See ptrace(2).
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming non-dumpable: %w", err)
	}
	ignoreSignals()
	return nil
}
