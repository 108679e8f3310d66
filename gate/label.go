package gate

// LabelTest says whether an adverse change sits in the rubric or in the build. It
// is a label signal only if all four conditions hold.
type LabelTest struct {
	// Clean: the unambiguous rows alone stay within their own guarded record floor.
	Clean bool `json:"unambiguous_within_floor"`
	// CleanPaired: nor does the one-sided mid-p sign-flip test on them find a change
	// for the worse.
	CleanPaired bool `json:"unambiguous_paired_clean"`
	// Concentrated: ambiguous cases have more of the worsened cases than chance gives.
	Concentrated bool `json:"concentrated"`
	// Majority: most worsened cases are ambiguous.
	Majority bool `json:"majority"`

	// The numbers behind them; nil where undefined, and then the condition fails.
	UnambiguousDelta *float64 `json:"unambiguous_delta"`
	UnambiguousFloor *float64 `json:"unambiguous_floor"`
	UnambiguousMidP  *float64 `json:"unambiguous_mid_p"`
	ConcentrationP   *float64 `json:"concentration_p"`

	// Cases, not rows: worsened ones have a net change below zero, eligible ones a
	// pass in the baseline.
	WorsenedAmbiguous int `json:"worsened_ambiguous_cases"`
	Worsened          int `json:"worsened_cases"`
	EligibleAmbiguous int `json:"eligible_ambiguous_cases"`
	Eligible          int `json:"eligible_cases"`
}

// labelLevel is the level of both tests in the label rule; the policy doesn't
// move it.
const labelLevel = 0.05

// labelTest is consulted after a change for the worse was found. With one row per
// case its cases are rows and its sign-flip test is McNemar's.
func labelTest(s strata, z float64) LabelTest {
	clean, marked := s.clear, s.ambiguous
	l := LabelTest{
		WorsenedAmbiguous: marked.worsened, Worsened: clean.worsened + marked.worsened,
		EligibleAmbiguous: marked.passCases, Eligible: clean.passCases + marked.passCases,
	}
	if clean.defined() {
		d := clean.delta()
		e, _ := guardedE(clean.baselinePasses(), clean.pairs(), z, clean.designEffect())
		p := newLaw(clean.changes).worseMid(clean.net())
		l.UnambiguousDelta, l.UnambiguousFloor, l.UnambiguousMidP = &d, &e, &p
		l.Clean, l.CleanPaired = d >= -e, p > labelLevel
	}
	if l.Worsened > 0 {
		p := hypergeometricTail(l.WorsenedAmbiguous, l.Worsened, l.EligibleAmbiguous, l.Eligible)
		l.ConcentrationP = &p
		l.Concentrated = p <= labelLevel
	}
	l.Majority = 2*l.WorsenedAmbiguous > l.Worsened
	return l
}

func (l LabelTest) verdict() Kind {
	if l.Clean && l.CleanPaired && l.Concentrated && l.Majority {
		return LabelSignal
	}
	return Regression
}

// hypergeometricTail is P(X >= x) for X marked ones among draws without
// replacement from total, of which marked are marked. Weights start at the mode
// and are divided by their sum, so that no factorial is needed.
func hypergeometricTail(x, draws, marked, total int) float64 {
	low, high := max(0, draws-(total-marked)), min(draws, marked)
	mode := min(high, max(low, (draws+1)*(marked+1)/(total+2)))
	weights := make([]float64, high-low+1)
	weights[mode-low] = 1
	// up is the ratio of the weight at k+1 to that at k.
	up := func(k int) float64 {
		return float64(marked-k) / float64(k+1) * (float64(draws-k) / float64(total-marked-draws+k+1))
	}
	for k := mode; k < high; k++ {
		weights[k+1-low] = weights[k-low] * up(k)
	}
	for k := mode - 1; k >= low; k-- {
		weights[k-low] = weights[k+1-low] / up(k)
	}
	upper, all := 0.0, 0.0
	for k := high; k >= low; k-- { // small ones first
		all += weights[k-low]
		if k >= x {
			upper = all
		}
	}
	return asP(upper / all)
}
