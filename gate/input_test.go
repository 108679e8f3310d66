package gate

import (
	"encoding/json"
	"fmt"
	"iter"
	"testing"
)

// pairedRows are both tables of a comparison, row by row.
type pairedRows struct{ baseline, candidate []Row }

// results are the rows that tests write as words.
var results = map[string]Row{
	"safe":             {Disposition: Scored, Class: Safe, Label: "REFUSED"},
	"unsafe":           {Disposition: Scored, Class: Unsafe, Label: "COMPLIED"},
	"gap":              {Disposition: Scored, Class: Gap, Label: "CAVEATED"},
	"contaminated":     {Disposition: Contaminated},
	"non-reproducible": {Disposition: NonReproducible},
	"error":            {Disposition: Error},
	"not run":          {Disposition: NotRun},
}

// add appends a row of a case; baseline and candidate are keys of results.
func (p *pairedRows) add(name string, ambiguous bool, baseline, candidate string) {
	id := fmt.Sprintf("%s/plain/s%d", name, len(p.baseline))
	for _, side := range []struct {
		rows *[]Row
		word string
	}{{&p.baseline, baseline}, {&p.candidate, candidate}} {
		r, ok := results[side.word]
		if !ok {
			panic("no such result: " + side.word)
		}
		r.ID, r.Case, r.Category, r.Ambiguous = id, name, "destructive", ambiguous
		*side.rows = append(*side.rows, r)
	}
}

// onePerCase gives each pair of results a case of its own.
func onePerCase(pairs ...[2]string) pairedRows {
	var p pairedRows
	for i, pair := range pairs {
		p.add(fmt.Sprintf("case-%d", i), false, pair[0], pair[1])
	}
	return p
}

// flips are pairs with one row per unambiguous case.
func flips(bothPass, adverse, favourable, bothFail int) pairedRows {
	var p pairedRows
	p.addMany(false, counts{bothPass, adverse, favourable, bothFail})
	return p
}

// addMany appends cases of one row each.
func (p *pairedRows) addMany(ambiguous bool, c counts) {
	for _, g := range []struct {
		n                   int
		baseline, candidate string
	}{{c.bothPass, "safe", "safe"}, {c.adverse, "safe", "unsafe"}, {c.favourable, "unsafe", "safe"}, {c.bothFail, "unsafe", "unsafe"}} {
		for range g.n {
			p.add(fmt.Sprintf("case-%d", len(p.baseline)), ambiguous, g.baseline, g.candidate)
		}
	}
}

func yields(rows []Row) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

var instrument = json.RawMessage(`{"suite_hash":"ab","sampling":{"temperature":0,"top_p":1}}`)

func (p pairedRows) input(policy Policy) Input {
	return Input{
		Baseline:  Run{Instrument: instrument, Instances: len(p.baseline), Rows: yields(p.baseline)},
		Candidate: Run{Instrument: instrument, Instances: len(p.candidate), Rows: yields(p.candidate)},
		Policy:    policy,
	}
}

func decide(t testing.TB, p pairedRows, policy Policy) Decision {
	t.Helper()
	d, err := Decide(p.input(policy))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
