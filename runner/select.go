package runner

import (
	"context"
	"math/rand/v2"

	"litmus/runner/runfile"
)

// Selection narrows a run to part of the manifest. The zero value is all of it.
type Selection struct {
	// First and Last are places in the manifest, counted from 1; 0 is no limit.
	First, Last int
	// Instances are ids, taken as they are.
	Instances []string
}

// selection is a Selection against one manifest. Ids are resolved to ordinals,
// so that a name that matches nothing is found before anything runs.
type selection struct {
	first, last int64          // from 0, last excluded
	ordinals    map[int64]bool // nil: all from first to last
}

func resolveSelection(ctx context.Context, f *runfile.File, s Selection) (*selection, error) {
	sel := &selection{first: 0, last: f.Instances}
	if s.First > 0 {
		sel.first = int64(s.First) - 1
	}
	if s.Last > 0 {
		sel.last = min(sel.last, int64(s.Last))
	}
	if sel.first >= sel.last {
		return nil, badInput("choose a smaller --limit", "no instance is selected: the manifest has %d", f.Instances)
	}
	if len(s.Instances) == 0 {
		return sel, nil
	}
	sel.ordinals = map[int64]bool{}
	for _, id := range s.Instances {
		in, err := f.Instance(ctx, id)
		if err != nil {
			return nil, badInput("ids are CASE/CHAIN/sSEED, as litmus list prints them", "instance %q: %v", id, err)
		}
		if in.Ordinal < sel.first || in.Ordinal >= sel.last {
			return nil, badInput("drop one of --limit and --instance", "instance %q lies outside of --limit", id)
		}
		sel.ordinals[in.Ordinal] = true
	}
	return sel, nil
}

func (s *selection) has(ordinal int64) bool {
	return ordinal >= s.first && ordinal < s.last && (s.ordinals == nil || s.ordinals[ordinal])
}

func (s *selection) size() int {
	if s.ordinals != nil {
		return len(s.ordinals)
	}
	return int(s.last - s.first)
}

// order is the ordinals to run, in the manifest's order or in one drawn from seed.
func (s *selection) order(seed *uint64) []int64 {
	order := make([]int64, 0, s.size())
	for ordinal := s.first; ordinal < s.last; ordinal++ {
		if s.has(ordinal) {
			order = append(order, ordinal)
		}
	}
	if seed != nil {
		rng := rand.New(rand.NewPCG(*seed, 0))
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}
