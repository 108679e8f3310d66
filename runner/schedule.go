package runner

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"litmus/mutation"
	"litmus/runner/runfile"
)

// runAll gives the selected instances that have no record yet to workers. The
// order changes no result: an instance knows its manifest line and nothing else.
func (r *run) runAll(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	ordinals := make(chan int64)
	group.Go(func() error {
		defer close(ordinals)
		for _, ordinal := range r.selected.order(r.opts.Shuffle) {
			select {
			case ordinals <- ordinal:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range r.workers() {
		group.Go(func() error {
			for ordinal := range ordinals {
				if err := r.one(ctx, ordinal); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (r *run) workers() int {
	if r.opts.MaxSandboxes > 0 {
		return r.opts.MaxSandboxes
	}
	return 2 * runtime.GOMAXPROCS(0)
}

// one runs the instance at an ordinal unless an earlier process has.
func (r *run) one(ctx context.Context, ordinal int64) error {
	id, err := r.file.InstanceID(ctx, ordinal)
	if err != nil {
		return err
	}
	if done, err := r.file.Done(ctx, id); err != nil || done {
		return err
	}
	line, err := r.file.ManifestLine(ctx, id)
	if err != nil {
		return err
	}
	in, err := mutation.ParseInstance(line)
	if err != nil {
		return err
	}
	d, err := r.attempt(ctx, in)
	if err != nil {
		return err
	}
	r.tally.add(string(d))
	return nil
}

// newTally starts with what earlier processes have done of this run.
func newTally(counts runfile.Counts, total int, report func(Progress)) *tally {
	t := &tally{report: report, state: Progress{Total: total, Dispositions: map[string]int{}}}
	for d, n := range counts.Dispositions {
		t.state.Dispositions[string(d)] = int(n)
		t.state.Done += int(n)
	}
	t.state.Before = t.state.Done
	return t
}
