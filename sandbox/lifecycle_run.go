package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// run lets the agent run to its own end or to one that is made for it.
func (b *box) run(ctx context.Context) (string, error) {
	if err := b.control.send(ctx, wire.Go{Go: true}); err != nil {
		return "", err
	}
	deadline := time.NewTimer(b.spec.Limits.Deadline)
	defer deadline.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-deadline.C:
			return b.ended(Exit{Cause: Deadline, Code: -1})
		case <-b.task.exited:
			return b.ended(Exit{Cause: InitLost, Code: -1})
		case event, ok := <-b.control.events:
			switch {
			case !ok && errors.Is(b.control.broken, io.EOF):
				// Its end is on the way; the kernel closes files first.
				return b.lost(ctx)
			case !ok:
				return "", b.control.broken
			case event.Failed != "":
				return "", fmt.Errorf("litmus-init: %s", event.Failed)
			case event.Exited != nil:
				return b.ended(exitOf(*event.Exited))
			case event.Connection != nil:
				if err := b.seen.add(*event.Connection); err != nil {
					return "", err
				}
			}
		}
	}
}

func (b *box) ended(exit Exit) (string, error) {
	b.outcome.Exit = exit
	return string(exit.Cause), nil
}

// lost waits for the end of an init that has closed its connection. It does so
// only by ending.
func (b *box) lost(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, killTimeout, errSlow)
	defer cancel()
	if err := b.task.awaitExit(ctx); err != nil {
		return "", err
	}
	return b.ended(Exit{Cause: InitLost, Code: -1})
}

func exitOf(e wire.Exited) Exit {
	switch {
	case e.StartError != "":
		return Exit{Cause: StartError, Code: -1, Detail: e.StartError}
	case e.Signal != 0:
		return Exit{Cause: Exited, Code: -1, Signal: e.Signal}
	}
	return Exit{Cause: Exited, Code: e.Code}
}

// noteLimits reads which limits were hit, before the cgroups go. An end that
// the kernel made for want of memory gets that as its cause.
func (b *box) noteLimits() error {
	memory, err := b.cgroups.memory()
	if err != nil {
		return err
	}
	refused, err := b.cgroups.pidsRefused()
	if err != nil {
		return err
	}
	left, err := statTmpfs(b.layout.path("fs"))
	if err != nil {
		return err
	}
	facts := &b.outcome.Facts
	facts.MemoryPeak = memory.peak
	facts.LimitsHit = LimitsHit{
		OOMKills: memory.oomKills, Pids: refused,
		WritableFull: left.freeBytes == 0, InodesFull: left.freeInodes == 0,
	}
	exit := &b.outcome.Exit
	if memory.oomKills > 0 && (exit.Cause == InitLost || exit.Cause == Exited && exit.Signal == int(unix.SIGKILL)) {
		exit.Cause = Memory
	}
	return nil
}
