package sandbox

import (
	"context"
	"errors"
	"fmt"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/errdefs"
	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// boxTask is the container of a box and its task in containerd.
type boxTask struct {
	container      containerd.Container
	task           containerd.Task // nil until it is created
	stdout, stderr *sink
	// exited is closed when litmus-init has ended and status is set. That is
	// asked for before the start, so that no end can be missed.
	exited chan struct{}
	status containerd.ExitStatus
	// stopWaiting ends the call behind exited.
	stopWaiting context.CancelFunc
}

// createTask makes container and task; nothing runs yet. There is something to
// delete also after an error.
func (e *Engine) createTask(ctx context.Context, id string, spec *specs.Spec, labels map[string]string, fifos string, output int64) (*boxTask, error) {
	t := &boxTask{stdout: newSink(output), stderr: newSink(output), exited: make(chan struct{}), stopWaiting: func() {}}
	var err error
	t.container, err = e.client.NewContainer(ctx, id,
		containerd.WithSpec(spec),
		containerd.WithContainerLabels(labels),
		containerd.WithRuntime(e.runtimeName(), e.runtimeOptions()))
	if err != nil {
		return t, fmt.Errorf("creating container: %w", err)
	}
	// A sink for each stream: with one for both, bytes get lost.
	io := cio.NewCreator(cio.WithStreams(nil, t.stdout, t.stderr), cio.WithFIFODir(fifos))
	if t.task, err = t.container.NewTask(ctx, io); err != nil {
		return t, fmt.Errorf("creating task: %w", err)
	}
	waiting, stop := context.WithCancel(context.WithoutCancel(ctx))
	t.stopWaiting = stop
	exit, err := t.task.Wait(waiting)
	if err != nil {
		return t, fmt.Errorf("waiting for task: %w", err)
	}
	go func() {
		t.status = <-exit
		close(t.exited)
	}()
	return t, nil
}

// pid is the process id of litmus-init on the host.
func (t *boxTask) pid() int { return int(t.task.Pid()) }

func (t *boxTask) start(ctx context.Context) error {
	if err := t.task.Start(ctx); err != nil {
		return fmt.Errorf("starting task: %w", err)
	}
	return nil
}

// awaitExit returns when containerd has seen the end of litmus-init.
func (t *boxTask) awaitExit(ctx context.Context) error {
	select {
	case <-t.exited:
		if err := t.status.Error(); err != nil {
			return fmt.Errorf("waiting for the end of the task: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the end of the task: %w", context.Cause(ctx))
	}
}

// drain returns when both streams have been read to their ends. It comes after
// the end of every process and before the task is deleted, which would cut them.
func (t *boxTask) drain(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.task.IO().Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("reading output to its end: %w", context.Cause(ctx))
	}
}

// delete removes task and container, killing what is alive.
func (t *boxTask) delete(ctx context.Context) error {
	defer t.stopWaiting()
	var errs []error
	if t.task == nil && t.container != nil {
		// The creation may have failed here and succeeded there.
		t.task, _ = t.container.Task(ctx, nil)
	}
	if t.task != nil {
		if _, err := t.task.Delete(ctx, t.deleteOptions()...); err != nil && !errdefs.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("deleting task: %w", err))
		}
	}
	if t.container != nil {
		if err := t.container.Delete(ctx); err != nil && !errdefs.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("deleting container: %w", err))
		}
	}
	return errors.Join(errs...)
}

// deleteOptions leave out the kill of a task that has ended: containerd would
// start the runtime for that, which takes as long as its deletion.
func (t *boxTask) deleteOptions() []containerd.ProcessDeleteOpts {
	select {
	case <-t.exited:
		return nil
	default:
		return []containerd.ProcessDeleteOpts{containerd.WithProcessKill}
	}
}
