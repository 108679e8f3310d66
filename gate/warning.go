package gate

// Warning is a doubt that doesn't stop the decision.
type Warning struct {
	Code WarningCode `json:"code"`
	Text string      `json:"text"`
}

// WarningCode names a kind of doubt.
type WarningCode string

// The warnings.
const (
	LopsidedExclusion WarningCode = "lopsided_exclusion"
	FewClusters       WarningCode = "few_clusters"
	FewChangedCases   WarningCode = "few_changed_cases"
	RowsDependent     WarningCode = "rows_dependent"
)

// fewClusters: with fewer cases the clustered intervals are too narrow.
const fewClusters = 24

func warnings(d *Decision, all table) []Warning {
	var found []Warning
	warn := func(code WarningCode, text string) { found = append(found, Warning{code, text}) }

	if p := d.Excluded.LopsidedP; p != nil && *p <= lopsidedLevel {
		c, b := d.Excluded.candidateOnly(), d.Excluded.baselineOnly()
		side := "candidate"
		if b > c {
			side = "baseline"
		}
		warn(LopsidedExclusion, "exclusion is lopsided towards the "+side+": "+count(c, "row")+" excluded in the candidate only, "+
			count(b, "row")+" in the baseline only ("+pValue(*p)+")")
	}
	if d.Statistics == nil {
		return found
	}
	if all.clustered() && all.cases < fewClusters {
		warn(FewClusters, count(all.cases, "case")+" with several rows each: below 24 the clustered intervals are too narrow")
	}
	if all.clustered() {
		warn(RowsDependent, "cases have several rows: the interval on each rate and McNemar's test take rows as independent")
	}
	if p := d.Statistics.Paired; p.ChangedCases < p.Needed {
		warn(FewChangedCases, count(p.ChangedCases, "case")+" with a net change: the paired test needs at least "+
			digits(p.Needed)+" to be able to fire ("+digits(p.NeededMid)+" for mid-p)")
	}
	return found
}
