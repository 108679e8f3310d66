package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// randomRows is a comparison of up to 40 cases with up to 6 rows each, with all
// kinds of results. The same generator state gives the same rows.
func randomRows(rng *rand.Rand) pairedRows {
	words := []string{"safe", "safe", "safe", "safe", "unsafe", "unsafe", "unsafe", "unsafe", "gap", "contaminated", "non-reproducible", "error", "not run"}
	kinds := len(words)
	if rng.IntN(2) == 0 { // half of the comparisons are complete
		kinds = 8
	}
	safe := rng.IntN(8)
	pick := func() string {
		if rng.IntN(8) < safe {
			return "safe"
		}
		return words[rng.IntN(kinds)]
	}
	rowsPerCase := 1 + rng.IntN(6)
	churn := rng.IntN(10)
	var p pairedRows
	for i := range rng.IntN(40) {
		ambiguous := rng.IntN(4) == 0
		for range 1 + rng.IntN(rowsPerCase) {
			before := pick()
			after := before
			if rng.IntN(10) < churn {
				after = pick()
			}
			p.add(fmt.Sprintf("case-%d", i), ambiguous, before, after)
		}
	}
	return p
}

func policies() []Policy {
	lenient, promise := DefaultPolicy(), promising(0.2)
	lenient.MaxExcluded = 1
	lenientPaired := paired()
	lenientPaired.MaxExcluded = 1
	return []Policy{DefaultPolicy(), paired(), lenient, lenientPaired, promise}
}

// forRandom calls check on random comparisons under each policy.
func forRandom(t *testing.T, check func(*testing.T, *rand.Rand, pairedRows, Policy)) {
	t.Helper()
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := randomRows(rng)
		for _, policy := range policies() {
			check(t, rng, rows, policy)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// shuffled moves whole cases, and the rows inside each; both sides alike.
func shuffled(rng *rand.Rand, p pairedRows) pairedRows {
	byCase := map[string][]int{}
	var names []string
	for i, r := range p.baseline {
		if byCase[r.Case] == nil {
			names = append(names, r.Case)
		}
		byCase[r.Case] = append(byCase[r.Case], i)
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out pairedRows
	for _, name := range names {
		rows := byCase[name]
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, i := range rows {
			out.baseline = append(out.baseline, p.baseline[i])
			out.candidate = append(out.candidate, p.candidate[i])
		}
	}
	return out
}

func sortQueues(d *Decision) {
	for _, q := range []*[]Entry{&d.Queues.Incident, &d.Queues.RubricGap, &d.Queues.Fixed} {
		slices.SortFunc(*q, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	}
}

func TestTheOrderOfTheRowsCannotBeSeenInTheDecision(t *testing.T) {
	forRandom(t, func(t *testing.T, rng *rand.Rand, rows pairedRows, policy Policy) {
		want, got := decide(t, rows, policy), decide(t, shuffled(rng, rows), policy)
		sortQueues(&want)
		sortQueues(&got)
		// Bit for bit: every statistic is a function of integers.
		if !reflect.DeepEqual(got, want) {
			t.Errorf("in another order\n%s\ninstead of\n%s", got.Text(), want.Text())
		}
	})
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	forRandom(t, func(t *testing.T, _ *rand.Rand, rows pairedRows, policy Policy) {
		a, b := decide(t, rows, policy), decide(t, rows, policy)
		if a.Text() != b.Text() || toJSON(t, a) != toJSON(t, b) {
			t.Error("two decisions on one input differ")
		}
	})
}

func toJSON(t *testing.T, d Decision) string {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSwappingTheRunsNegatesTheDelta(t *testing.T) {
	forRandom(t, func(t *testing.T, _ *rand.Rand, rows pairedRows, policy Policy) {
		there := decide(t, rows, policy)
		back := decide(t, pairedRows{rows.candidate, rows.baseline}, policy)
		if there.Pairs.Adverse != back.Pairs.Favourable || there.Pairs.Favourable != back.Pairs.Adverse ||
			there.Pairs.Total != back.Pairs.Total || there.Excluded.Total != back.Excluded.Total {
			t.Errorf("%+v and %+v", there.Pairs, back.Pairs)
		}
		if len(there.Queues.Incident) != len(back.Queues.Fixed) || len(there.Queues.RubricGap) != len(back.Queues.RubricGap) {
			t.Error("the queues did not change places")
		}
		a, b := there.Statistics, back.Statistics
		if (a == nil) != (b == nil) {
			t.Fatal("defined one way and undefined the other")
		}
		if a == nil {
			return
		}
		near := func(name string, x, y float64) {
			if math.Abs(x-y) > 1e-12 {
				t.Errorf("%s: %v and %v", name, x, y)
			}
		}
		near("d", a.Delta.Delta, -b.Delta.Delta)
		near("lower and upper", a.Delta.Interval.Lower, -b.Delta.Interval.Upper)
		near("upper and lower", a.Delta.Interval.Upper, -b.Delta.Interval.Lower)
		near("CR1", a.Cluster.Interval.Lower, -b.Cluster.Interval.Upper)
		near("rates", a.Baseline.Rate, b.Candidate.Rate)
		// What belongs to the pairs and to neither side stays as it is; the record
		// floor belongs to the baseline and does not.
		near("paired floor", a.Paired.Floor, b.Paired.Floor)
		near("p", a.Paired.P, b.Paired.P)
		near("deff", a.Deff, b.Deff)
		if mirrored := map[Kind]Kind{NoSignal: NoSignal, Regression: Improvement, Improvement: Regression}; b.Paired.Verdict != mirrored[a.Paired.Verdict] {
			t.Errorf("paired %s and back %s", a.Paired.Verdict, b.Paired.Verdict)
		}
	})
}

func TestEachDecisionHoldsTogether(t *testing.T) {
	seen := map[Kind]bool{}
	forRandom(t, func(t *testing.T, _ *rand.Rand, rows pairedRows, policy Policy) {
		d := decide(t, rows, policy)
		seen[d.Kind] = true
		if (d.Kind == Incomplete) != (len(d.Reasons) > 0) {
			t.Errorf("%s with reasons %v", d.Kind, d.Reasons)
		}
		flips := 0
		for _, q := range [][]Entry{d.Queues.Incident, d.Queues.RubricGap, d.Queues.Fixed} {
			for _, e := range q {
				if e.Change != HasGap {
					flips++
				}
			}
		}
		if flips != d.Pairs.Adverse+d.Pairs.Favourable {
			t.Errorf("%d flips are queued of %d", flips, d.Pairs.Adverse+d.Pairs.Favourable)
		}
		if d.Bounds != nil && (d.Bounds.Worst.Pairs != d.Rows || *d.Bounds.Worst.Delta > *d.Bounds.Best.Delta) {
			t.Errorf("bounds %+v", *d.Bounds)
		}
		noImpossibleNumber(t, "decision", reflect.ValueOf(d))
		s := d.Statistics
		if s == nil {
			return
		}
		if (s.Paired.Verdict != NoSignal) != (s.Paired.P <= policy.Alpha) {
			t.Errorf("paired verdict %s with p = %v", s.Paired.Verdict, s.Paired.P)
		}
		if s.Record.E < s.Record.UnguardedE {
			t.Errorf("a guard made the floor smaller: %v below %v", s.Record.E, s.Record.UnguardedE)
		}
		if i := s.Delta.Interval; i.Lower > s.Delta.Delta || i.Upper < s.Delta.Delta {
			t.Errorf("d = %v outside its interval %+v", s.Delta.Delta, i)
		}
	})
	for _, kind := range []Kind{Incomplete, NoSignal, Regression, Improvement} {
		if !seen[kind] {
			t.Errorf("no random comparison was %s: the generator is too tame", kind)
		}
	}
}

// noImpossibleNumber walks a value and refuses NaN, infinity and negative zero.
func noImpossibleNumber(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 && math.Signbit(f) {
			t.Errorf("%s = %v", path, f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			noImpossibleNumber(t, path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			noImpossibleNumber(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			noImpossibleNumber(t, path, v.Index(i))
		}
	}
}

func FuzzNoNumberIsImpossible(f *testing.F) {
	f.Add(0, 0, 0, 0, uint8(1), 1.96, 0.05)
	f.Add(1, 0, 0, 1, uint8(3), 0.01, 0.5)
	f.Add(0, 500, 0, 0, uint8(2), 100.0, 1e-6)
	f.Add(240, 0, 0, 0, uint8(1), 1.96, 0.05)
	f.Add(7, 3, 3, 7, uint8(9), 1.96, 0.05)
	f.Fuzz(func(t *testing.T, bothPass, adverse, favourable, bothFail int, perCase uint8, z, alpha float64) {
		var rows pairedRows
		for i, n := range []int{bothPass, adverse, favourable, bothFail} {
			pair := [][2]string{{"safe", "safe"}, {"safe", "unsafe"}, {"unsafe", "safe"}, {"unsafe", "unsafe"}}[i]
			for range max(0, n) % 700 {
				rows.add(digits(len(rows.baseline)/max(1, int(perCase))), false, pair[0], pair[1])
			}
		}
		policy := paired()
		policy.Z, policy.Alpha = z, alpha
		d, err := Decide(rows.input(policy))
		if err != nil {
			return
		}
		noImpossibleNumber(t, "decision", reflect.ValueOf(d))
		for _, bad := range []string{"NaN", "Inf", "-0.00", "%!"} {
			if strings.Contains(d.Text(), bad) {
				t.Errorf("%s in\n%s", bad, d.Text())
			}
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	})
}
