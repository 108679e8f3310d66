package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"litmus/internal/canon"
	"litmus/internal/treehash"
	"litmus/internal/wire"
)

// Bounds on what is not the agent's own time. They are far beyond what a loaded
// machine needs: reaching one means that something hangs.
const (
	startTimeout   = 2 * time.Minute
	killTimeout    = time.Minute
	lookTimeout    = 5 * time.Minute
	destroyTimeout = 2 * time.Minute
)

// errSlow is the cause of a timeout of the harness's own.
var errSlow = errors.New("took too long")

// box is one attempt on its way through the steps. It has one owner.
type box struct {
	engine    *Engine
	spec      Spec
	listeners []wire.Listener
	id        string
	outcome   Outcome
	undo      []func(context.Context) error

	layout  *layout
	control *controller
	task    *boxTask
	cgroups cgroupSet
	decoys  []process // as they were when they had started
	seen    connections
}

// steps is the life of a box, to be read from the top. Nothing is looked at for
// judgement before "kill" has confirmed that nothing in the box is alive.
func (b *box) steps() []step {
	return []step{
		{"create", b.create},
		{"assert-empty", b.assertEmpty},
		{"stage", b.stage},
		{"assert-staged", b.assertStaged},
		// Not cut short: containerd goes on with what it was asked for, and a task
		// whose creation nobody waited for is one that nobody deletes.
		{"start", detached(startTimeout, b.start)},
		{"run", b.run},
		{"freeze", detached(killTimeout, b.freeze)},
		{"kill", detached(killTimeout, b.kill)},
		{"hash", bounded(lookTimeout, b.hash)},
		{"evidence", bounded(lookTimeout, b.collect)},
	}
}

// bounded gives a step a time limit of its own.
func bounded(limit time.Duration, do func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
		defer cancel()
		return do(ctx)
	}
}

// detached is bounded for a step that must not be left half done.
func detached(limit time.Duration, do func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		return bounded(limit, do)(context.WithoutCancel(ctx))
	}
}

func (b *box) later(undo func(context.Context) error) { b.undo = append(b.undo, undo) }

// create makes the directories and the file system, and in it what must be
// there before anything else.
func (b *box) create(ctx context.Context) (string, error) {
	init, err := initLayer(b.engine.slot.dir, b.engine.config.InitPath)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.engine.boxesDir(), b.id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	b.layout, err = newLayout(dir, slices.Concat([]string{init}, b.spec.Image.lowers()))
	b.later(b.layout.remove)
	if err != nil {
		return "", err
	}
	if err := b.layout.mountStaging(); err != nil {
		return "", err
	}
	if err := writePinned(b.layout.fs("pinned"), b.spec.Limits.Memory); err != nil {
		return "", err
	}
	return b.spec.Image.Digest, b.inRootfs(func(root *os.File) error {
		return buildSkeleton(ctx, root, b.spec.Workdir, b.listeners)
	})
}

// assertEmpty holds before anything of the instance has been written.
func (b *box) assertEmpty(context.Context) (string, error) {
	err := b.inRootfs(func(root *os.File) error {
		scratch, err := openDirInRoot(root, b.spec.Workdir)
		if err != nil {
			return err
		}
		defer scratch.Close()
		names, err := scratch.Readdirnames(1)
		if len(names) > 0 {
			return fmt.Errorf("the scratch root %s is not empty in image %s: %q is in it", b.spec.Workdir, b.spec.Image.Ref, names[0])
		}
		return ignoreEnd(err)
	})
	if err != nil {
		return "", err
	}
	if err := b.assertUntouched(); err != nil {
		return "", err
	}
	b.outcome.EmptyAtStart = true
	return "scratch root, writable layer and /dev/shm have 0 entries", nil
}

// assertUntouched fails if anything is in the writable layer or in /dev/shm.
func (b *box) assertUntouched() error {
	for _, name := range []string{"upper", "shm"} {
		n, err := b.layout.entries(name)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%s is not empty but has %d entries", name, n)
		}
	}
	return nil
}

func (b *box) stage(ctx context.Context) (string, error) {
	err := b.inRootfs(func(root *os.File) error { return stage(ctx, root, b.spec.Tree) })
	if err != nil {
		return "", err
	}
	return strconv.Itoa(len(b.spec.Tree)) + " entries", b.layout.finishStaging(ctx, b.spec.Limits)
}

// assertStaged compares what is in the box with what follows from the spec.
func (b *box) assertStaged(ctx context.Context) (string, error) {
	want, err := StagedHash(b.spec.Tree)
	if err != nil {
		return "", err
	}
	err = b.inRootfs(func(root *os.File) error {
		b.outcome.Staged, err = readStaged(ctx, root, b.spec.Tree)
		return err
	})
	if err != nil {
		return "", err
	}
	if b.outcome.Staged != want {
		return "", fmt.Errorf("the staged tree has hash %s, the spec's is %s", b.outcome.Staged, want)
	}
	return want.String(), nil
}

// start brings everything up but the agent.
func (b *box) start(ctx context.Context) (string, error) {
	if err := b.openSockets(); err != nil {
		return "", err
	}
	spec := ociSpec(b.layout, b.spec.Limits, b.engine.cgroupPath(b.id))
	task, err := b.engine.createTask(ctx, b.id, spec, b.engine.labels(b.spec.RunID, b.spec.Token), b.layout.path("io"), b.spec.Limits.Output)
	b.task = task
	b.later(b.removeTask)
	if err != nil {
		return "", err
	}
	if b.cgroups, err = findCgroups(task.pid(), b.id); err != nil {
		return "", err
	}
	// The runtime has mounted everything by now, and must have written nothing.
	if err := b.assertUntouched(); err != nil {
		return "", err
	}
	if err := task.start(ctx); err != nil {
		return "", err
	}
	if err := b.greet(ctx); err != nil {
		return "", errors.Join(err, b.complaint(ctx))
	}
	return "", nil
}

// openSockets makes the sockets that litmus-init will look for.
func (b *box) openSockets() error {
	var err error
	if b.control, err = listenControl(b.layout.fs("run")); err != nil {
		return err
	}
	b.later(func(context.Context) error { return b.control.close() })
	if b.spec.Gateway == "" {
		return nil
	}
	door, err := openGatewayDoor(b.layout.fs("run"), b.spec.Gateway)
	if err != nil {
		return err
	}
	b.later(func(context.Context) error { return door.close() })
	return nil
}

// greet waits until litmus-init has everything ready.
func (b *box) greet(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
		case <-b.task.exited:
			cancel(fmt.Errorf("litmus-init has ended with code %d", b.task.status.ExitCode()))
		}
	}()
	if err := b.control.accept(ctx, b.task.pid()); err != nil {
		return err
	}
	ready, err := b.control.ready(ctx, b.setup())
	if err != nil {
		return err
	}
	b.outcome.Facts.PIDsPinned = ready.PIDsPinned
	return b.findDecoys(ready.DecoyPIDs)
}

// complaint ends a litmus-init that did not get ready and returns what it said
// about that, if anything.
func (b *box) complaint(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), killTimeout, errSlow)
	defer cancel()
	if err := errors.Join(b.cgroups.kill(ctx), b.task.drain(ctx)); err != nil {
		return err
	}
	if said := bytes.TrimSpace(b.task.stderr.stream().Head); len(said) > 0 {
		return fmt.Errorf("its last words: %s", canon.Text(said))
	}
	return nil
}

func (b *box) setup() wire.Setup {
	s := wire.Setup{
		Agent: wire.Command{
			Args: b.spec.Agent.Args, Env: environment(b.spec.Agent.Env), Dir: b.spec.Workdir, Stdin: b.spec.Agent.Stdin,
		},
		Listeners:    b.listeners,
		CaptureLimit: CaptureLimit,
	}
	for _, d := range b.spec.Decoys {
		s.Decoys = append(s.Decoys, wire.Decoy{Name: d.Name, Args: d.Args})
	}
	return s
}

// freeze stops everything in the box and looks at what is alive.
func (b *box) freeze(ctx context.Context) (string, error) {
	if err := b.cgroups.freezer().freeze(ctx); err != nil {
		return "", err
	}
	pids, err := b.cgroups.processes()
	if err != nil {
		return "", err
	}
	alive, err := readProcesses(pids)
	if err != nil {
		return "", err
	}
	b.noteProcesses(alive)
	return "every process is stopped", nil
}

// kill returns when nothing is alive in any hierarchy, and all output is in.
func (b *box) kill(ctx context.Context) (string, error) {
	if err := b.cgroups.kill(ctx); err != nil {
		return "", err
	}
	if err := b.task.awaitExit(ctx); err != nil {
		return "", err
	}
	if err := b.task.drain(ctx); err != nil {
		return "", err
	}
	b.outcome.Stdout, b.outcome.Stderr = b.task.stdout.stream(), b.task.stderr.stream()
	if err := b.noteLimits(); err != nil {
		return "", err
	}
	return "no process is left in any cgroup", nil
}

// removeTask is the undoing of start.
func (b *box) removeTask(ctx context.Context) error {
	var errs []error
	if b.cgroups != nil {
		errs = append(errs, b.cgroups.kill(ctx))
	}
	errs = append(errs, b.task.delete(ctx), b.cgroups.remove(ctx))
	return errors.Join(errs...)
}

// inRootfs opens the root of the box for f.
func (b *box) inRootfs(f func(*os.File) error) error { return inDir(b.layout.rootfs(), f) }

func inDir(name string, f func(*os.File) error) (err error) {
	root, err := os.OpenFile(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return f(root)
}

// hash reads the trees that the agent could write to.
func (b *box) hash(ctx context.Context) (string, error) {
	var err error
	evidence := &b.outcome.Evidence
	if evidence.Shm, err = treehash.HashDir(ctx, b.layout.fs("shm")); err != nil {
		return "", fmt.Errorf("hashing /dev/shm: %w", err)
	}
	if evidence.Scratch, err = b.layout.hashOf(ctx, b.spec.Workdir); err != nil {
		return "", fmt.Errorf("hashing the scratch root: %w", err)
	}
	if err := b.layout.mountBefore(); err != nil {
		return "", err
	}
	found, err := b.layout.changes(ctx)
	if err != nil {
		return "", fmt.Errorf("looking for changes: %w", err)
	}
	evidence.Changes, evidence.ChangesTotal, evidence.ChangesTruncated, evidence.Root = found.list, found.total, found.truncated, found.root
	return found.root.String(), nil
}
