package gate

import "math"

// Statistics is everything computed from the pairs. Rates, deltas, floors and
// effects are fractions, not percentage points.
type Statistics struct {
	Baseline  Rate  `json:"baseline"`
	Candidate Rate  `json:"candidate"`
	Delta     Delta `json:"delta"`
	// Deff is the design effect of several rows per case; 1 if there is none.
	Deff    float64        `json:"design_effect"`
	Record  RecordAnalysis `json:"record"`
	Paired  PairedAnalysis `json:"paired"`
	Cluster ClusterRobust  `json:"cluster_robust"`
	McNemar McNemar        `json:"mcnemar"`
	// Disagreement says in words that the floors decide differently; empty if not.
	Disagreement string `json:"disagreement,omitempty"`
}

// Rate is a count of passes with its Wilson interval, which takes rows as
// independent.
type Rate struct {
	Pass     int      `json:"pass"`
	Of       int      `json:"of"`
	Rate     float64  `json:"rate"`
	Interval Interval `json:"interval"`
}

// Delta is the change in the pass rate with Tango's score interval.
type Delta struct {
	Net      int      `json:"net"` // favourable - adverse
	Of       int      `json:"of"`  // pairs
	Delta    float64  `json:"delta"`
	Interval Interval `json:"interval"`
}

// RecordAnalysis is the records' rule with its guards.
type RecordAnalysis struct {
	Z             float64 `json:"z"`
	E             float64 `json:"e"`
	Verdict       Kind    `json:"verdict"`
	BoundaryGuard bool    `json:"boundary_guard"` // fewer than 5 passes or failures
	ClusterGuard  bool    `json:"cluster_guard"`  // design effect above 1
	// The records' own formula, without guards, never decides.
	UnguardedE       float64 `json:"unguarded_e"`
	UnguardedVerdict Kind    `json:"unguarded_verdict"`
	// MDE80 is the drop found in 80 % of runs; nil if no drop is.
	MDE80 *float64 `json:"mde80"`
}

// PairedAnalysis is the exact cluster sign-flip test.
type PairedAnalysis struct {
	Alpha   float64 `json:"alpha"`
	Floor   float64 `json:"floor"` // |d| > floor if and only if p <= alpha
	P       float64 `json:"p"`     // two-sided; 1e-80 stands for anything less
	MidP    float64 `json:"mid_p"`
	Verdict Kind    `json:"verdict"`
	// Cases with at least one pair; those with a net change; and how many of the
	// latter the test, and its mid-p, need at least.
	Cases        int      `json:"cases"`
	ChangedCases int      `json:"changed_cases"`
	Needed       int      `json:"changed_cases_needed"`
	NeededMid    int      `json:"changed_cases_needed_mid_p"`
	MDE80        *float64 `json:"mde80"`
}

// ClusterRobust is the CR1 standard error with Student's interval on G-1 degrees
// of freedom.
type ClusterRobust struct {
	SE       float64  `json:"se"`
	Interval Interval `json:"interval"`
}

// McNemar is the exact test on rows, which takes them as independent. It is the
// paired analysis itself if every case has one row.
type McNemar struct {
	P    float64 `json:"p"`
	MidP float64 `json:"mid_p"`
}

// analyse computes the statistics of a table that is defined.
func (p Policy) analyse(t table) *Statistics {
	deff := t.designEffect()
	n, passes := t.pairs(), t.baselinePasses()
	s := &Statistics{
		Baseline:  rateOf(passes, n, p.Alpha),
		Candidate: rateOf(t.bothPass+t.favourable, n, p.Alpha),
		Delta:     Delta{t.net(), n, t.delta(), deltaInterval(t, deff, p.Alpha)},
		Deff:      deff,
		Record:    p.analyseRecord(t),
		Paired:    p.analysePaired(t),
	}
	s.Cluster.SE, s.Cluster.Interval = clusterInterval(t, p.Alpha)
	rows := newLaw(map[int]int{1: t.flips()})
	s.McNemar = McNemar{rows.twoSided(t.net()), rows.twoSidedMid(t.net())}
	s.Disagreement = p.disagreement(s)
	return s
}

func rateOf(pass, of int, alpha float64) Rate {
	return Rate{pass, of, float64(pass) / float64(of), wilson(pass, of, alpha)}
}

func (p Policy) analyseRecord(t table) RecordAnalysis {
	n, passes, deff := t.pairs(), t.baselinePasses(), t.designEffect()
	r := RecordAnalysis{Z: p.Z, ClusterGuard: deff > 1}
	r.E, r.BoundaryGuard = guardedE(passes, n, p.Z, deff)
	r.UnguardedE = recordE(float64(passes), float64(n), p.Z)
	r.Verdict = direction(t.net(), math.Abs(t.delta()) > r.E)
	r.UnguardedVerdict = direction(t.net(), math.Abs(t.delta()) > r.UnguardedE)
	r.MDE80 = recordMDE80(r.E, float64(passes)/float64(n), float64(n), deff)
	return r
}

func (p Policy) analysePaired(t table) PairedAnalysis {
	n, net := t.pairs(), t.net()
	law := newLaw(t.changes)
	floor := law.floor(p.Alpha)
	a := PairedAnalysis{
		Alpha: p.Alpha, Floor: float64(floor) / float64(n),
		P: law.twoSided(net), MidP: law.twoSidedMid(net),
		// In integers, so that the floor and p can never disagree.
		Verdict: direction(net, max(net, -net) > floor),
		Cases:   t.cases, ChangedCases: t.changedCases(),
	}
	a.Needed, a.NeededMid = casesNeeded(p.Alpha)
	churn := float64(t.flips()) / float64(n)
	rate := float64(t.baselinePasses()) / float64(n)
	a.MDE80 = pairedMDE80(churn, rate, float64(n), t.designEffect(), p.Alpha)
	return a
}

// direction is the verdict of a floor by itself, before any label test.
func direction(net int, beyondFloor bool) Kind {
	switch {
	case !beyondFloor:
		return NoSignal
	case net < 0:
		return Regression
	default:
		return Improvement
	}
}

// deciding returns the verdict, floor and MDE80 of the floor that the policy names.
func (p Policy) deciding(s *Statistics) (verdict Kind, e float64, mde *float64) {
	if p.NoiseFloor == PairedFloor {
		return s.Paired.Verdict, s.Paired.Floor, s.Paired.MDE80
	}
	return s.Record.Verdict, s.Record.E, s.Record.MDE80
}

// verdict is the decision on a table that is defined and complete.
func (p Policy) verdict(s strata) Kind {
	all := s.all()
	var kind Kind
	if p.NoiseFloor == PairedFloor {
		kind = p.analysePaired(all).Verdict
	} else {
		kind = p.analyseRecord(all).Verdict
	}
	if kind == Regression {
		return labelTest(s, p.Z).verdict()
	}
	return kind
}
