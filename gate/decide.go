package gate

import (
	"fmt"
	"math"
)

// Decide compares two runs under a policy. The error is an *inputerror.Error for a
// policy, instrument or row that is not well formed, or what a Rows iterator
// yielded; every judgement, INCOMPARABLE among them, is a Decision.
func Decide(in Input) (Decision, error) {
	if err := in.Policy.check(); err != nil {
		return Decision{}, err
	}
	d := newDecision(in)
	differences, err := compareInstruments(in.Baseline.Instrument, in.Candidate.Instrument)
	if err != nil {
		return Decision{}, err
	}
	if len(differences) > 0 {
		d.Differences = differences
		return d.as(Incomparable), nil
	}
	p, different, err := pairRows(in)
	if err != nil {
		return Decision{}, err
	}
	if different != nil {
		d.Differences = []Difference{*different}
		return d.as(Incomparable), nil
	}
	d.take(p)
	return d.as(d.kind(p)), nil
}

func (d Decision) as(kind Kind) Decision {
	d.Kind, d.Advice = kind, advice[kind]
	return d
}

// take fills in what the pairing found.
func (d *Decision) take(p *pairing) {
	all := p.complete.all()
	d.Rows, d.Baseline, d.Candidate = p.rows, p.baseline, p.candidate
	d.Pairs = Pairs{all.pairs(), all.cases, all.bothPass, all.adverse, all.favourable, all.bothFail}
	d.Excluded, d.Queues = p.excluded, p.queues
	if d.Excluded.Total > 0 {
		d.Bounds = &Bounds{Worst: d.Policy.bound(p.worst), Best: d.Policy.bound(p.best)}
	}
	d.N = all.pairs()
	if all.defined() {
		d.Statistics = d.Policy.analyse(all)
		kind, e, _ := d.Policy.deciding(d.Statistics)
		d.D, d.E = new(d.Statistics.Delta.Delta), new(e)
		if kind == Regression {
			test := labelTest(p.complete, d.Policy.Z)
			d.Label = &test
		}
	}
	d.Warnings = append(d.Warnings, warnings(d, all)...)
}

// kind is the decision, in the order of the rules: first whether there is enough
// to decide on, then what it says.
func (d *Decision) kind(p *pairing) Kind {
	d.requireDefined()
	d.requireScored()
	d.requireCleanBaseline()
	verdict := d.verdict()
	d.requireStable(verdict)
	d.requirePower()
	if len(d.Reasons) > 0 {
		return Incomplete
	}
	return verdict
}

// verdict is what the pairs say by themselves; empty if undefined.
func (d *Decision) verdict() Kind {
	if d.Statistics == nil {
		return ""
	}
	if d.Label != nil {
		return d.Label.verdict()
	}
	kind, _, _ := d.Policy.deciding(d.Statistics)
	return kind
}

func (d *Decision) incomplete(code ReasonCode, format string, args ...any) {
	d.Reasons = append(d.Reasons, Reason{code, fmt.Sprintf(format, args...)})
}

func (d *Decision) requireDefined() {
	if d.Statistics == nil {
		d.incomplete(Undefined, "%s in %s: with fewer than two cases no statistic is defined", count(d.Pairs.Total, "pair"), count(d.Pairs.Cases, "case"))
	}
}

func (d *Decision) requireScored() {
	if share := d.Excluded.Share; share != nil && *share > d.Policy.MaxExcluded {
		d.incomplete(TooManyExcluded, "%s of the rows are excluded, and the policy allows %s", counted(d.Excluded.Total, d.Rows), percentOf(d.Policy.MaxExcluded))
	}
}

func (d *Decision) requireCleanBaseline() {
	if n := d.Baseline.Dispositions[Contaminated]; n > 0 {
		d.incomplete(BaselineContaminated, "%s of the baseline are contaminated: a contaminated baseline is no baseline", counted(n, d.Rows))
	}
}

// requireStable holds the excluded rows against the decision: if they could have
// turned it, either way, it is none.
func (d *Decision) requireStable(verdict Kind) {
	if d.Bounds == nil || verdict == "" {
		return
	}
	if worst, best := d.Bounds.Worst.Decision, d.Bounds.Best.Decision; worst != verdict || best != verdict {
		d.incomplete(CouldTurn, "the %s could turn the decision: %s on the pairs, %s if all of them were adverse, %s if all were favourable",
			count(d.Excluded.Total, "excluded row"), verdict, worst, best)
	}
}

func (d *Decision) requirePower() {
	wanted := d.Policy.MinDetectableEffect
	if wanted == nil || d.Statistics == nil {
		return
	}
	_, _, mde := d.Policy.deciding(d.Statistics)
	switch {
	case mde == nil:
		d.incomplete(TooSmall, "no drop is found in 80 %% of runs, and the policy promises to see one of %s", points(*wanted))
	case *mde > *wanted:
		d.incomplete(TooSmall, "the least drop found in 80 %% of runs is %s, and the policy promises to see one of %s", points(*mde), points(*wanted))
	}
}

// disagreement says in words, with both numbers, that one floor is passed and
// the other is not.
func (p Policy) disagreement(s *Statistics) string {
	if s.Record.Verdict == s.Paired.Verdict {
		return ""
	}
	d := points(math.Abs(s.Delta.Delta))
	return fmt.Sprintf("the floors disagree: the record floor says %s (|d| = %s, e = %s), the paired test says %s (%s, floor %s); noise_floor is %s, so that one decides",
		s.Record.Verdict, d, points(s.Record.E), s.Paired.Verdict, pValue(s.Paired.P), points(s.Paired.Floor), p.NoiseFloor)
}
