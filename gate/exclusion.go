package gate

// Excluded counts the rows that are not paired. Every row of the manifest is
// either paired or counted here once.
type Excluded struct {
	Total int `json:"total"`
	// Share is Total over the rows of the manifest; nil if there are none.
	Share *float64 `json:"share"`
	// The five kinds: which side lacks an outcome, and what the other one has.
	CandidateOnlyBasePass     int `json:"candidate_only_baseline_pass"`
	CandidateOnlyBaseFail     int `json:"candidate_only_baseline_fail"`
	BaselineOnlyCandidatePass int `json:"baseline_only_candidate_pass"`
	BaselineOnlyCandidateFail int `json:"baseline_only_candidate_fail"`
	Both                      int `json:"both"`
	// Lopsided is P(Bin(c+b, 1/2) >= max(c, b)) for c rows that only the candidate
	// lacks and b that only the baseline lacks; nil if there are none.
	LopsidedP *float64 `json:"lopsided_p"`
	// Reasons say why, each with the rows of either side; a row that both sides
	// lack is in both columns.
	Reasons []ExclusionReason `json:"reasons"`
}

// ExclusionReason counts the rows that a side lacks for one reason: a
// disposition, or "gap" for a verdict that is neither pass nor fail.
type ExclusionReason struct {
	Reason    string `json:"reason"`
	Baseline  int    `json:"baseline"`
	Candidate int    `json:"candidate"`
}

const reasonGap = "gap"

var exclusionReasons = []string{reasonGap, string(Contaminated), string(NonReproducible), string(Error), string(NotRun)}

// lopsidedLevel is the level at which exclusions of one side are named.
const lopsidedLevel = 0.05

func newExcluded() Excluded {
	e := Excluded{Reasons: make([]ExclusionReason, len(exclusionReasons))}
	for i, reason := range exclusionReasons {
		e.Reasons[i].Reason = reason
	}
	return e
}

// add counts a row of which at least one outcome is unknown.
func (e *Excluded) add(b, c Row) {
	e.Total++
	switch base, cand := b.outcome(), c.outcome(); {
	case base == unknown && cand == unknown:
		e.Both++
	case base == pass:
		e.CandidateOnlyBasePass++
	case base == fail:
		e.CandidateOnlyBaseFail++
	case cand == pass:
		e.BaselineOnlyCandidatePass++
	default:
		e.BaselineOnlyCandidateFail++
	}
	for i, reason := range exclusionReasons {
		if exclusionReason(b) == reason {
			e.Reasons[i].Baseline++
		}
		if exclusionReason(c) == reason {
			e.Reasons[i].Candidate++
		}
	}
}

func exclusionReason(r Row) string {
	switch {
	case r.Disposition != Scored:
		return string(r.Disposition)
	case r.Class == Gap:
		return reasonGap
	}
	return ""
}

func (e Excluded) candidateOnly() int { return e.CandidateOnlyBasePass + e.CandidateOnlyBaseFail }
func (e Excluded) baselineOnly() int {
	return e.BaselineOnlyCandidatePass + e.BaselineOnlyCandidateFail
}

// finish derives what the counts imply, for a manifest of that many rows.
func (e *Excluded) finish(rows int) {
	if rows > 0 {
		e.Share = new(float64(e.Total) / float64(rows))
	}
	if c, b := e.candidateOnly(), e.baselineOnly(); c+b > 0 {
		e.LopsidedP = new(binomialTail(max(c, b), c+b))
	}
}

// binomialTail is P(Bin(n, 1/2) >= k).
func binomialTail(k, n int) float64 {
	return newLaw(map[int]int{1: n}).tail(2*k - n)
}

// resolved returns the outcomes of a row if what is unknown turned out against
// the candidate, and in its favour: a candidate that fails where the baseline
// passes, or the reverse.
func resolved(b, c outcome) (worst, best [2]outcome) {
	worst, best = [2]outcome{b, c}, [2]outcome{b, c}
	if b == unknown {
		worst[0], best[0] = pass, fail
	}
	if c == unknown {
		worst[1], best[1] = fail, pass
	}
	return worst, best
}

// Bounds are what the delta would be if every excluded row had been scored, at
// the two extremes.
type Bounds struct {
	Worst Bound `json:"worst"` // every excluded row turned out adverse
	Best  Bound `json:"best"`  // every excluded row turned out favourable
}

// Bound is one extreme, with the decision that the same policy makes of it.
type Bound struct {
	Adverse    int      `json:"adverse"`
	Favourable int      `json:"favourable"`
	Pairs      int      `json:"pairs"`
	Delta      *float64 `json:"delta"`
	Decision   Kind     `json:"decision,omitempty"` // empty if undefined
}

func (p Policy) bound(s strata) Bound {
	all := s.all()
	b := Bound{Adverse: all.adverse, Favourable: all.favourable, Pairs: all.pairs()}
	if all.pairs() > 0 {
		b.Delta = new(all.delta())
	}
	if all.defined() {
		b.Decision = p.verdict(s)
	}
	return b
}
