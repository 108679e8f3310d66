package mutation

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"litmus/internal/digest"
)

// ImpurityError says that an operator made something else of the same instance the
// second time.
type ImpurityError struct {
	Operator string
	Instance string
}

func (e *ImpurityError) Error() string {
	return fmt.Sprintf("operator %s is not pure: it mutates %s differently from one time to the next", e.Operator, e.Instance)
}

// purityWindow is how many instances are compared at a time, so that the memory
// does not grow with the manifest.
const purityWindow = 1 << 14

// CheckPurity mutates every instance twice: in order by one goroutine, and
// backwards by more of them than there are cores. It returns an *ImpurityError
// about the first operator in the manifest's order whose two results differ.
func CheckPurity(ctx context.Context, s *Suite, pins Pins) error {
	f, err := s.freeze(pins)
	if err != nil {
		return fmt.Errorf("check purity: %w", err)
	}
	for first := 0; first < f.header.Counts.Instances; first += purityWindow {
		count := min(purityWindow, f.header.Counts.Instances-first)
		forwards, err := f.traces(ctx, first, count, 1, false)
		if err != nil {
			return err
		}
		backwards, err := f.traces(ctx, first, count, 2*runtime.GOMAXPROCS(0), true)
		if err != nil {
			return err
		}
		for i := range forwards {
			if err := compare(forwards[i], backwards[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// trace is what the operators of one instance did, step by step.
type trace struct {
	id        InstanceID
	operators []string
	hashes    []digest.Hash // of the messages after each operator
}

func compare(a, b trace) error {
	for i, operator := range a.operators {
		if i >= len(b.hashes) || a.hashes[i] != b.hashes[i] {
			return &ImpurityError{operator, a.id.String()}
		}
	}
	return nil
}

// traces mutates count instances and returns what happened to each, whatever the
// order it took them in.
func (f *frozen) traces(ctx context.Context, first, count, workers int, backwards bool) ([]trace, error) {
	traces := make([]trace, count)
	todo := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		for i := range count {
			if backwards {
				i = count - 1 - i
			}
			select {
			case todo <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	startMakers(group, f, workers, todo, func(m *maker, i int) (err error) {
		traces[i], err = m.trace(first + i)
		return err
	})
	return traces, group.Wait()
}

func (m *maker) trace(ordinal int) (trace, error) {
	var t trace
	var encoded []byte
	_, id, _, err := m.mutate(ordinal, func(s step) {
		encoded = appendMessages(encoded[:0], s.messages)
		t.operators = append(t.operators, s.operator)
		t.hashes = append(t.hashes, digest.Sum(encoded))
	})
	t.id = id
	return t, err
}
