package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Run makes a box of its own for the spec, runs the agent in it to its end, and
// takes the box down again. It may be called concurrently.
//
// An error is the harness's alone, among them *SpecError and *StageError for
// what the caller asked, and ctx's when that ended. Then there is no Outcome:
// what can't be seen whole is not reported in part. When Run returns nothing of
// the box is left, or the error says what is; Reclaim removes that.
func (e *Engine) Run(ctx context.Context, spec Spec) (Outcome, error) {
	if err := spec.check(); err != nil {
		return Outcome{}, err
	}
	listeners, err := mapListeners(spec.Listeners)
	if err != nil {
		return Outcome{}, err
	}
	b := &box{engine: e, spec: spec, listeners: listeners, id: newBoxID()}
	b.outcome.Facts = e.facts(b.id)
	err = b.live(ctx)
	if err = errors.Join(err, b.destroy(ctx)); err != nil {
		return Outcome{}, fmt.Errorf("box %s: %w", b.id, err)
	}
	return b.outcome, nil
}

// newBoxID is unique and fits everywhere: directories, cgroups, container ids.
func newBoxID() string { return "box-" + strings.ToLower(rand.Text()) }

// step is one station of a box's life. do returns what is worth recording, which
// must be the same for the same spec and behaviour of the agent.
type step struct {
	name string
	do   func(context.Context) (detail string, err error)
}

// live runs the steps in order and stops at the first that fails.
func (b *box) live(ctx context.Context) error {
	for _, s := range b.steps() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.take(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// take takes one step and records it.
func (b *box) take(ctx context.Context, s step) error {
	begin := time.Now()
	detail, err := s.do(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	b.outcome.Steps = append(b.outcome.Steps, Step{s.name, detail})
	b.outcome.Facts.Timings = append(b.outcome.Facts.Timings, Timing{s.name, time.Since(begin)})
	return nil
}

// destroy undoes everything, the latest first, whatever became of the box and
// of ctx. All of it is tried.
func (b *box) destroy(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), destroyTimeout, errSlow)
	defer cancel()
	return b.take(ctx, step{"destroy", func(ctx context.Context) (string, error) {
		var errs []error
		for len(b.undo) > 0 {
			last := len(b.undo) - 1
			errs = append(errs, b.undo[last](ctx))
			b.undo = b.undo[:last]
		}
		return "nothing left", errors.Join(errs...)
	}})
}
