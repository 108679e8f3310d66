package gate

// counts is a two-by-two table of pairs: of one case, or of many.
type counts struct {
	bothPass, adverse, favourable, bothFail int
}

func (c *counts) add(baseline, candidate outcome) {
	switch {
	case baseline == pass && candidate == pass:
		c.bothPass++
	case baseline == pass:
		c.adverse++
	case candidate == pass:
		c.favourable++
	default:
		c.bothFail++
	}
}

func (c counts) pairs() int          { return c.bothPass + c.adverse + c.favourable + c.bothFail }
func (c counts) flips() int          { return c.adverse + c.favourable }
func (c counts) net() int            { return c.favourable - c.adverse }
func (c counts) baselinePasses() int { return c.bothPass + c.adverse }

func (c counts) plus(other counts) counts {
	return counts{c.bothPass + other.bothPass, c.adverse + other.adverse, c.favourable + other.favourable, c.bothFail + other.bothFail}
}

// table is what a set of pairs amounts to for every statistic of this package:
// integers only, so that the order of the rows can't show in any result. Its size
// is the number of different net changes, not the number of rows.
type table struct {
	counts
	cases     int // with at least one pair
	caseRows  int // pairs in the largest case
	sumDD     int // over cases, D the net change and M the pairs of a case
	sumDM     int
	sumMM     int
	changes   map[int]int // |D| -> cases with that net change; 0 is left out
	worsened  int         // cases with D < 0
	passCases int         // cases with at least one pass in the baseline
}

// addCase adds the pairs of one case. A case without pairs is no cluster.
func (t *table) addCase(c counts) {
	m, d := c.pairs(), c.net()
	if m == 0 {
		return
	}
	t.counts = t.counts.plus(c)
	t.cases++
	t.caseRows = max(t.caseRows, m)
	t.sumDD += d * d
	t.sumDM += d * m
	t.sumMM += m * m
	if d != 0 {
		if t.changes == nil {
			t.changes = map[int]int{}
		}
		t.changes[max(d, -d)]++
	}
	if d < 0 {
		t.worsened++
	}
	if c.baselinePasses() > 0 {
		t.passCases++
	}
}

// merge returns the table of both sets of pairs, which have no case in common.
func merge(a, b table) table {
	sum := table{
		counts: a.counts.plus(b.counts), cases: a.cases + b.cases, caseRows: max(a.caseRows, b.caseRows),
		sumDD: a.sumDD + b.sumDD, sumDM: a.sumDM + b.sumDM, sumMM: a.sumMM + b.sumMM,
		changes: map[int]int{}, worsened: a.worsened + b.worsened, passCases: a.passCases + b.passCases,
	}
	for _, part := range []table{a, b} {
		for change, cases := range part.changes {
			sum.changes[change] += cases
		}
	}
	return sum
}

// defined says whether there is anything to compute: the spread between cases
// needs two of them.
func (t table) defined() bool { return t.cases >= 2 }

// clustered says whether some case has several pairs.
func (t table) clustered() bool { return t.caseRows > 1 }

// delta is d, defined if there is a pair.
func (t table) delta() float64 { return float64(t.net()) / float64(t.pairs()) }

// changedCases is the number of cases with a net change.
func (t table) changedCases() int {
	n := 0
	for _, cases := range t.changes {
		n += cases
	}
	return n
}

// strata are the pairs by whether their case's rubric is ambiguous.
type strata struct {
	clear, ambiguous table
}

func (s *strata) addCase(ambiguous bool, c counts) {
	if ambiguous {
		s.ambiguous.addCase(c)
	} else {
		s.clear.addCase(c)
	}
}

func (s strata) all() table { return merge(s.clear, s.ambiguous) }
