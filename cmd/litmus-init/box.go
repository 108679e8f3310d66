package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// surroundings is what stands around the agent while it runs.
type surroundings struct {
	recorder *recorder
	spawner  *spawner
	decoys   []int
	control  *control
}

// prepare does what setup asks. The forwarder and the recorders come before the
// decoys, and the process ids are settled last of all that makes threads, so
// that ids come out the same each time.
func prepare(setup wire.Setup, control *control) (*surroundings, error) {
	if err := raiseLoopback(); err != nil {
		return nil, err
	}
	if err := forward(wire.GatewayAddress, wire.GatewaySocket); err != nil {
		return nil, err
	}
	recorder, err := listen(setup.Listeners, setup.CaptureLimit, control.report)
	if err != nil {
		return nil, err
	}
	confinement, err := confine()
	if err != nil {
		return nil, err
	}
	if err := settlePIDs(initFloor); err != nil {
		return nil, err
	}
	spawner := newSpawner(newReaper(), confinement)
	decoys, err := startDecoys(spawner, setup.Decoys)
	if err != nil {
		return nil, err
	}
	return &surroundings{recorder: recorder, spawner: spawner, decoys: decoys, control: control}, nil
}

func (s *surroundings) ready() *wire.Ready {
	return &wire.Ready{DecoyPIDs: s.decoys, PIDsPinned: s.spawner.pinned}
}

// runAgent runs the agent to the end of its own process and reports what the
// recorders saw. What the agent leaves running goes on; the harness ends it.
func (s *surroundings) runAgent(command wire.Command, broken <-chan struct{}) (wire.Exited, error) {
	agent, err := startAgent(s.spawner, command)
	if failed, ok := errors.AsType[*execError](err); ok {
		return wire.Exited{Code: -1, StartError: failed.Error()}, nil
	}
	if err != nil {
		return wire.Exited{}, err
	}
	defer agent.stdin.Close()
	select {
	case <-broken:
		return wire.Exited{}, errHarnessGone
	case status := <-agent.done:
		return exitOf(status), s.recorder.finish()
	}
}

// agentProcess is a started agent.
type agentProcess struct {
	stdin *os.File
	done  <-chan unix.WaitStatus
}

// startAgent starts the agent's command and feeds it its input. The caller
// closes stdin when the agent has ended, which ends the feeding too.
func startAgent(spawner *spawner, command wire.Command) (*agentProcess, error) {
	if len(command.Args) == 0 {
		return nil, errors.New("the agent's command is empty")
	}
	path, err := lookPath(command.Args[0], command.Dir, command.Env)
	if err != nil {
		return nil, &execError{command.Args[0], err}
	}
	in, feed, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("opening the agent's input: %w", err)
	}
	defer in.Close()
	child, err := spawner.start(program{
		path: path, args: command.Args, env: command.Env, dir: command.Dir, stdin: in,
	}, wire.AgentPID)
	if err != nil {
		feed.Close()
		return nil, err
	}
	go func() {
		// An agent that does not read its input is within its rights.
		_, _ = feed.Write(command.Stdin)
		feed.Close()
	}()
	return &agentProcess{stdin: feed, done: child.done}, nil
}

func exitOf(status unix.WaitStatus) wire.Exited {
	if status.Signaled() {
		return wire.Exited{Code: -1, Signal: int(status.Signal())}
	}
	return wire.Exited{Code: status.ExitStatus()}
}

// startDecoys starts the decoys, at wire.FirstDecoyPID and the ids after it.
func startDecoys(spawner *spawner, decoys []wire.Decoy) ([]int, error) {
	if len(decoys) == 0 {
		return nil, nil
	}
	if most := wire.AgentPID - wire.FirstDecoyPID; len(decoys) > most {
		return nil, fmt.Errorf("%d decoys: the most is %d", len(decoys), most)
	}
	image, err := newDecoyImage()
	if err != nil {
		return nil, err
	}
	defer image.Close()
	pids := make([]int, 0, len(decoys))
	for i, decoy := range decoys {
		child, err := spawner.start(image.program(decoy), wire.FirstDecoyPID+i)
		if err != nil {
			return nil, fmt.Errorf("starting decoy %q: %w", decoy.Name, err)
		}
		pids = append(pids, child.pid)
	}
	return pids, nil
}
