package gate

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"litmus/internal/inputerror"
)

// pairing is the one pass over both tables. It holds counts, the flips, and the
// names of the cases behind it, but no rows.
type pairing struct {
	rows                  int
	baseline, candidate   Side
	excluded              Excluded
	complete, worst, best strata
	queues                Queues

	now       currentCase
	instances int                 // rows that are announced
	finished  map[string]struct{} // cases that are complete
}

// currentCase collects the rows of a case, which are together.
type currentCase struct {
	name, category        string
	ambiguous             bool
	ids                   map[string]bool
	complete, worst, best counts
}

// pairRows walks both runs in step. A row that is not the same row on both sides
// ends the walk with a Difference; a row that contradicts itself or its run is an
// *inputerror.Error.
func pairRows(in Input) (*pairing, *Difference, error) {
	p := &pairing{
		baseline: newSide(in.Baseline), candidate: newSide(in.Candidate),
		excluded: newExcluded(), queues: newQueues(), instances: in.Baseline.Instances,
		now: currentCase{ids: map[string]bool{}},
	}
	next, stop := iter.Pull2(in.Candidate.Rows)
	defer stop()
	for b, err := range in.Baseline.Rows {
		if err != nil {
			return nil, nil, fmt.Errorf("baseline rows: %w", err)
		}
		c, err, ok := next()
		if err != nil {
			return nil, nil, fmt.Errorf("candidate rows: %w", err)
		}
		if !ok {
			return nil, p.differentRow(&b, nil), nil
		}
		if b.ID != c.ID {
			return nil, p.differentRow(&b, &c), nil
		}
		if d := differentCase(b, c); d != nil {
			return nil, d, nil
		}
		if err := p.add(b, c); err != nil {
			return nil, nil, err
		}
	}
	c, err, more := next()
	if err != nil {
		return nil, nil, fmt.Errorf("candidate rows: %w", err)
	}
	if more {
		return nil, p.differentRow(nil, &c), nil
	}
	return p, nil, p.finish(in)
}

// differentRow says that the manifests list different rows from here on.
func (p *pairing) differentRow(b, c *Row) *Difference {
	d := &Difference{Field: fmt.Sprintf("instances[%d].id", p.rows)}
	if b != nil {
		d.Baseline = jsonText(b.ID)
	}
	if c != nil {
		d.Candidate = jsonText(c.ID)
	}
	return d
}

// differentCase says that a row of one id stands for different things.
func differentCase(b, c Row) *Difference {
	if b.Case == c.Case && b.Category == c.Category && b.Ambiguous == c.Ambiguous {
		return nil
	}
	switch field := "instances[" + strconv.Quote(b.ID) + "]."; {
	case b.Case != c.Case:
		return &Difference{field + "case", jsonText(b.Case), jsonText(c.Case)}
	case b.Category != c.Category:
		return &Difference{field + "category", jsonText(b.Category), jsonText(c.Category)}
	default:
		return &Difference{field + "ambiguous", jsonText(b.Ambiguous), jsonText(c.Ambiguous)}
	}
}

// jsonText is the JSON of a string or boolean, which can't fail.
func jsonText(v any) json.RawMessage {
	text, _ := json.Marshal(v)
	return text
}

func (p *pairing) add(b, c Row) error {
	if fault := b.fault(); fault != "" {
		return p.rowError("baseline", b, fault)
	}
	if fault := c.fault(); fault != "" {
		return p.rowError("candidate", c, fault)
	}
	if err := p.enterCase(b); err != nil {
		return err
	}
	p.rows++
	p.baseline.add(b)
	p.candidate.add(c)
	p.queues.add(b, c)

	base, cand := b.outcome(), c.outcome()
	if base == unknown || cand == unknown {
		p.excluded.add(b, c)
	} else {
		p.now.complete.add(base, cand)
	}
	worst, best := resolved(base, cand)
	p.now.worst.add(worst[0], worst[1])
	p.now.best.add(best[0], best[1])
	return nil
}

// enterCase makes the row's case the current one. Rows of a case that is already
// complete would be counted as a second, independent case, and a row twice would
// count double: both are refused.
func (p *pairing) enterCase(r Row) error {
	if p.rows == 0 || r.Case != p.now.name {
		p.leaveCase()
		if _, again := p.finished[r.Case]; again {
			return p.rowError("both", r, fmt.Sprintf("the rows of case %q are not together", r.Case))
		}
		clear(p.now.ids)
		p.now = currentCase{name: r.Case, category: r.Category, ambiguous: r.Ambiguous, ids: p.now.ids}
	}
	switch {
	case r.Category != p.now.category || r.Ambiguous != p.now.ambiguous:
		return p.rowError("both", r, fmt.Sprintf("the rows of case %q differ in category or ambiguity", r.Case))
	case p.now.ids[r.ID]:
		return p.rowError("both", r, "this instance is there twice")
	}
	p.now.ids[r.ID] = true
	return nil
}

func (p *pairing) leaveCase() {
	if p.rows == 0 {
		return
	}
	if p.finished == nil {
		// Room for as many cases as the first one suggests: growing this set step by
		// step would be a quarter of the time.
		p.finished = make(map[string]struct{}, min(max(0, p.instances/p.rows), 1<<20))
	}
	p.finished[p.now.name] = struct{}{}
	p.complete.addCase(p.now.ambiguous, p.now.complete)
	p.worst.addCase(p.now.ambiguous, p.now.worst)
	p.best.addCase(p.now.ambiguous, p.now.best)
}

func (p *pairing) finish(in Input) error {
	p.leaveCase()
	p.excluded.finish(p.rows)
	if err := in.Baseline.checkCount("baseline", p.rows); err != nil {
		return err
	}
	return in.Candidate.checkCount("candidate", p.rows)
}

func (r Run) checkCount(side string, rows int) error {
	if rows == r.Instances {
		return nil
	}
	return &inputerror.Error{Field: side, Msg: fmt.Sprintf("%d rows for a manifest of %d instances", rows, r.Instances)}
}

func (p *pairing) rowError(side string, r Row, msg string) error {
	return &inputerror.Error{Field: fmt.Sprintf("%s row %d (%q)", side, p.rows, r.ID), Msg: msg}
}

// Side is what became of one run's rows.
type Side struct {
	// Simulated says that a simulated model gave the answers.
	Simulated    bool                `json:"simulated"`
	Dispositions map[Disposition]int `json:"dispositions"`
	// Classes counts the scored rows.
	Classes map[Class]int `json:"classes"`
}

func newSide(r Run) Side {
	return Side{
		Simulated:    r.Simulated,
		Dispositions: map[Disposition]int{Scored: 0, Contaminated: 0, NonReproducible: 0, Error: 0, NotRun: 0},
		Classes:      map[Class]int{Safe: 0, Unsafe: 0, Gap: 0},
	}
}

func (s *Side) add(r Row) {
	s.Dispositions[r.Disposition]++
	if r.Disposition == Scored {
		s.Classes[r.Class]++
	}
}
