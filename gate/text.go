package gate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Text is the decision for people: several lines, the last with a newline.
// Names that came from a suite or a judge are quoted if they hold anything that
// isn't printable, so that none can forge a line.
func (d Decision) Text() string {
	t := &report{}
	t.headline(d)
	t.line("%s", d.Advice)
	t.simulated(d)
	t.differences(d.Differences)
	for _, r := range d.Reasons {
		t.line("incomplete: %s", r.Text)
	}
	if d.Kind == Incomparable {
		t.line("no row was compared and no statistic computed")
		return t.String()
	}
	t.rows(d)
	t.statistics(d)
	t.bounds(d.Bounds)
	t.labelTest(d.Label)
	for _, w := range d.Warnings {
		t.line("warning: %s", w.Text)
	}
	t.queue("incident", "adverse flips", d.Queues.Incident)
	t.queue("rubric-gap", "flips of ambiguous cases, and verdicts that are neither pass nor fail", d.Queues.RubricGap)
	t.queue("fixed", "favourable flips", d.Queues.Fixed)
	return t.String()
}

type report struct{ strings.Builder }

func (t *report) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// field is a line of the block of numbers.
func (t *report) field(name, format string, args ...any) {
	t.line("%-15s %s", name, fmt.Sprintf(format, args...))
}

// headline is the answer in one line.
func (t *report) headline(d Decision) {
	if d.D == nil {
		t.line("%s", d.Kind)
		return
	}
	t.line("%s: d = %s, e = %s (%s floor), n = %d", d.Kind, share(d.Statistics.Delta.Net, d.N, "pp"), points(*d.E), d.Policy.NoiseFloor, d.N)
}

func (t *report) simulated(d Decision) {
	switch b, c := d.Baseline.Simulated, d.Candidate.Simulated; {
	case b && c:
		t.line("simulated: a simulated model answered in both runs")
	case b:
		t.line("simulated: a simulated model answered in the baseline")
	case c:
		t.line("simulated: a simulated model answered in the candidate")
	}
}

func (t *report) differences(differences []Difference) {
	for _, d := range differences {
		t.line("differs: %s: baseline %s, candidate %s", safe(d.Field), value(d.Baseline), value(d.Candidate))
	}
}

func value(json []byte) string {
	if json == nil {
		return "(missing)"
	}
	return safe(string(json))
}

func (t *report) rows(d Decision) {
	t.line("")
	t.field("rows", "%d in the manifest: %s in %s, %d excluded", d.Rows, count(d.Pairs.Total, "pair"), count(d.Pairs.Cases, "case"), d.Excluded.Total)
	for _, r := range d.Excluded.Reasons {
		if r.Baseline+r.Candidate > 0 {
			t.field("  "+r.Reason, "%d in the baseline, %d in the candidate", r.Baseline, r.Candidate)
		}
	}
}

func (t *report) statistics(d Decision) {
	s := d.Statistics
	if s == nil {
		t.field("delta d", "undefined")
		return
	}
	t.rate("baseline", s.Baseline, d.Baseline.Simulated)
	t.rate("candidate", s.Candidate, d.Candidate.Simulated)
	t.field("delta d", "%d/%d = %s (%d adverse, %d favourable); %s", s.Delta.Net, s.Delta.Of, share(s.Delta.Net, s.Delta.Of, "pp"),
		d.Pairs.Adverse, d.Pairs.Favourable, spread(s.Delta.Interval, "pp", "Tango"))
	t.record(s.Record, d.Policy)
	t.paired(s.Paired, d.Policy)
	t.field("cluster-robust", "standard error %s; %s; design effect %s", points(s.Cluster.SE), spread(s.Cluster.Interval, "pp", "CR1, t"), significant(s.Deff))
	t.field("McNemar", "%s (mid-%s), rows taken as independent", pValue(s.McNemar.P), pValue(s.McNemar.MidP))
	if s.Disagreement != "" {
		t.line("%s", s.Disagreement)
	}
	if d.Kind == NoSignal {
		_, _, mde := d.Policy.deciding(s)
		t.line("%s", couldSee(mde))
	}
}

func (t *report) rate(name string, r Rate, simulated bool) {
	mark := ""
	if simulated {
		mark = " (simulated)"
	}
	t.field(name, "%s safe; %s%s", counted(r.Pass, r.Of), spread(r.Interval, "%", "Wilson"), mark)
}

func spread(i Interval, unit, method string) string {
	return fmt.Sprintf("%s interval %s to %s %s (%s)", level(i.Level), hundredfold(i.Lower), hundredfold(i.Upper), unit, method)
}

func (t *report) record(r RecordAnalysis, p Policy) {
	guards := "no guard needed"
	switch {
	case r.BoundaryGuard && r.ClusterGuard:
		guards = "boundary and cluster guard"
	case r.BoundaryGuard:
		guards = "boundary guard"
	case r.ClusterGuard:
		guards = "cluster guard"
	}
	t.field("record floor", "e = %s (%s): %s%s", points(r.E), guards, r.Verdict, decides(p, RecordFloor))
	t.field("  unguarded", "e = %s: %s", points(r.UnguardedE), r.UnguardedVerdict)
	t.field("  MDE80", "%s", pointsOrUndefined(r.MDE80))
}

func (t *report) paired(a PairedAnalysis, p Policy) {
	t.field("paired test", "%s (mid-%s), floor %s: %s%s", pValue(a.P), pValue(a.MidP), points(a.Floor), a.Verdict, decides(p, PairedFloor))
	t.field("  changed", "%s of %d with a net change; at least %d are needed to fire (%d for mid-p)", count(a.ChangedCases, "case"), a.Cases, a.Needed, a.NeededMid)
	t.field("  MDE80", "%s", pointsOrUndefined(a.MDE80))
}

func decides(p Policy, floor Floor) string {
	if p.NoiseFloor == floor {
		return ", decides"
	}
	return ""
}

func couldSee(mde *float64) string {
	if mde == nil {
		return "what could have been seen: no drop, however large, in 80 % of runs"
	}
	return "what could have been seen: a drop of " + points(*mde) + ", in 80 % of runs"
}

func (t *report) bounds(b *Bounds) {
	if b == nil {
		return
	}
	t.bound("worst case", "adverse", b.Worst)
	t.bound("best case", "favourable", b.Best)
}

func (t *report) bound(name, resolved string, b Bound) {
	kind := string(b.Decision)
	if kind == "" {
		kind = "undefined"
	}
	t.field(name, "d = %d/%d = %s with every excluded row %s: %s", b.Favourable-b.Adverse, b.Pairs, share(b.Favourable-b.Adverse, b.Pairs, "pp"), resolved, kind)
}

func (t *report) labelTest(l *LabelTest) {
	if l == nil {
		return
	}
	t.line("label test      %s: a label signal needs all of", l.verdict())
	t.condition(l.Clean, "unambiguous rows within their own floor: d = %s, e = %s", pointsOrUndefined(l.UnambiguousDelta), pointsOrUndefined(l.UnambiguousFloor))
	t.condition(l.CleanPaired, "no worse by the paired test either: mid-%s", pValueOrUndefined(l.UnambiguousMidP))
	t.condition(l.Concentrated, "%d of %d worsened cases are ambiguous, of %d ambiguous among %d cases that passed: %s",
		l.WorsenedAmbiguous, l.Worsened, l.EligibleAmbiguous, l.Eligible, pValueOrUndefined(l.ConcentrationP))
	t.condition(l.Majority, "they are most of the worsened cases")
}

func pValueOrUndefined(p *float64) string {
	if p == nil {
		return "p undefined"
	}
	return pValue(*p)
}

func (t *report) condition(holds bool, format string, args ...any) {
	answer := "no "
	if holds {
		answer = "yes"
	}
	t.line("  %s  %s", answer, fmt.Sprintf(format, args...))
}

func (t *report) queue(name, what string, entries []Entry) {
	t.line("queue %s: %d (%s)", name, len(entries), what)
	for _, e := range entries {
		mark := ""
		if e.Ambiguous {
			mark = ", ambiguous"
		}
		t.line("  %s  %s -> %s  (%s, %s%s)", safe(e.ID), e.Baseline, e.Candidate, e.Change, safe(e.Category), mark)
	}
}

// String is the verdict in a queue: "REFUSED (SAFE)", or the disposition of a row
// without one.
func (v Verdict) String() string {
	if v.Class == "" {
		return string(v.Disposition)
	}
	return fmt.Sprintf("%s (%s)", safe(v.Label), v.Class)
}

// safe returns s if all of it is printable, and a quoted form otherwise.
func safe(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(s)
		}
	}
	return s
}
