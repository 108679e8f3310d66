package mutation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Summary is a manifest in numbers.
type Summary struct {
	// ID is BLAKE3 of all bytes of the manifest.
	ID digest.Hash
	Counts
}

// batchSize is how many instances are made and written at a time. Memory is
// bounded by a few batches per core, however many instances there are.
const batchSize = 64

// Materialize writes the manifest of a suite to w: the header, then a line for
// each instance in the order of cases, chains and seeds. It works on all cores; the
// bytes depend on the suite and the pins alone. When it fails, what it wrote is of
// no use.
func Materialize(ctx context.Context, s *Suite, pins Pins, w io.Writer) (Summary, error) {
	if pins.ImageDigest == "" {
		return Summary{}, errors.New("materialize: the image is not pinned")
	}
	f, err := s.freeze(pins)
	if err != nil {
		return Summary{}, fmt.Errorf("materialize: %w", err)
	}
	id := digest.NewWriter()
	w = io.MultiWriter(w, id)
	header, err := canon.Marshal(&f.header)
	if err != nil {
		return Summary{}, fmt.Errorf("materialize header: %w", err)
	}
	if _, err := w.Write(append(header, '\n')); err != nil {
		return Summary{}, fmt.Errorf("write manifest: %w", err)
	}
	if err := f.writeInstances(ctx, w); err != nil {
		return Summary{}, err
	}
	return Summary{id.Sum(), f.header.Counts}, nil
}

// writeInstances lets every core make batches and writes them in order.
func (f *frozen) writeInstances(ctx context.Context, w io.Writer) error {
	type batch struct {
		first int
		lines chan []byte
	}
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan batch)
	// Batches in order. Its capacity bounds how far the workers run ahead.
	ordered := make(chan batch, 2*workers)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		defer close(ordered)
		for first := 0; first < f.header.Counts.Instances; first += batchSize {
			b := batch{first, make(chan []byte, 1)}
			for _, queue := range []chan<- batch{ordered, todo} {
				select {
				case queue <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	startMakers(group, f, workers, todo, func(m *maker, b batch) error {
		lines, err := m.batch(b.first)
		if err != nil {
			return err
		}
		b.lines <- lines
		return nil
	})
	group.Go(func() error {
		for b := range ordered {
			select {
			case lines := <-b.lines:
				if _, err := w.Write(lines); err != nil {
					return fmt.Errorf("write manifest: %w", err)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// maker makes instances by ordinal, their place in the manifest from 0. It is for
// one goroutine; makers of the same frozen suite share nothing that changes.
type maker struct {
	frozen  *frozen
	digests [][]digest.Hash // of the operators of each chain
	cached  int             // the case that frame is of, or -1
	frame   frame
	builder lineBuilder
}

func newMaker(f *frozen) *maker {
	m := &maker{frozen: f, cached: -1}
	for _, chain := range f.chains {
		m.digests = append(m.digests, chain.digests())
	}
	return m
}

// startMakers lets workers, each with a maker of its own, take what there is to do
// until it is done or one of them fails.
func startMakers[T any](group *errgroup.Group, f *frozen, workers int, todo <-chan T, do func(*maker, T) error) {
	for range workers {
		group.Go(func() error {
			m := newMaker(f)
			for task := range todo {
				if err := do(m, task); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// batch returns the lines of up to batchSize instances.
func (m *maker) batch(first int) ([]byte, error) {
	// The lines go away with the result; the next batch is of a similar size.
	m.builder.lines = make([]byte, 0, len(m.builder.lines)+len(m.builder.lines)/8)
	for ordinal := first; ordinal < min(first+batchSize, m.frozen.header.Counts.Instances); ordinal++ {
		if err := m.add(ordinal); err != nil {
			return nil, err
		}
	}
	return m.builder.lines, nil
}

// add appends the line of one instance to the batch.
func (m *maker) add(ordinal int) error {
	index, id, messages, err := m.mutate(ordinal, nil)
	if err != nil {
		return err
	}
	if index != m.cached {
		c := &m.frozen.cases[index]
		if m.frame, err = newFrame(c, m.frozen.header.Fixtures[c.Fixtures].Hash); err != nil {
			return err
		}
		m.cached = index
	}
	m.builder.add(&m.frame, id, messages)
	return nil
}

// mutate applies an instance's chain. It returns the index of the case, the id and
// the messages, and calls each after every operator.
func (m *maker) mutate(ordinal int, each func(step)) (int, InstanceID, []Message, error) {
	f := m.frozen
	counts := f.header.Counts
	index, chain := ordinal/(counts.Chains*counts.Seeds), ordinal/counts.Seeds%counts.Chains
	c := f.cases[index]
	id := InstanceID{c.ID, f.chains[chain].Name, f.header.Seeds[ordinal%counts.Seeds]}
	messages, err := f.chains[chain].apply(c, id, m.digests[chain], each)
	return index, id, messages, err
}
