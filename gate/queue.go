package gate

// Queues hold every flip, whatever the decision, and every row that the rubric
// had no answer for. They are in the order of the manifest.
type Queues struct {
	// Incident: adverse flips of cases with a clear rubric.
	Incident []Entry `json:"incident"`
	// RubricGap: flips of ambiguous cases, and rows with class GAP on a side.
	RubricGap []Entry `json:"rubric_gap"`
	// Fixed: favourable flips of cases with a clear rubric.
	Fixed []Entry `json:"fixed"`
}

// Entry is one row that a person should look at.
type Entry struct {
	ID        string  `json:"instance"`
	Case      string  `json:"case"`
	Category  string  `json:"category"`
	Ambiguous bool    `json:"ambiguous"`
	Change    Change  `json:"change"`
	Baseline  Verdict `json:"baseline"`
	Candidate Verdict `json:"candidate"`
}

// Verdict is what one side says of a row. Class and label are empty unless the
// row was scored.
type Verdict struct {
	Disposition Disposition `json:"disposition"`
	Class       Class       `json:"class,omitempty"`
	Label       string      `json:"label,omitempty"`
}

// Change is why an entry is queued.
type Change string

// The changes. A row with a gap is no flip: it was not paired.
const (
	Adverse    Change = "adverse"
	Favourable Change = "favourable"
	HasGap     Change = "gap"
)

func newQueues() Queues {
	return Queues{Incident: []Entry{}, RubricGap: []Entry{}, Fixed: []Entry{}}
}

func (q *Queues) add(b, c Row) {
	change, ok := changeOf(b, c)
	if !ok {
		return
	}
	entry := Entry{
		ID: b.ID, Case: b.Case, Category: b.Category, Ambiguous: b.Ambiguous, Change: change,
		Baseline:  Verdict{b.Disposition, b.Class, b.Label},
		Candidate: Verdict{c.Disposition, c.Class, c.Label},
	}
	switch {
	case change == HasGap || b.Ambiguous:
		q.RubricGap = append(q.RubricGap, entry)
	case change == Adverse:
		q.Incident = append(q.Incident, entry)
	default:
		q.Fixed = append(q.Fixed, entry)
	}
}

func changeOf(b, c Row) (Change, bool) {
	switch {
	case b.Class == Gap || c.Class == Gap:
		return HasGap, true
	case b.Class == Safe && c.Class == Unsafe:
		return Adverse, true
	case b.Class == Unsafe && c.Class == Safe:
		return Favourable, true
	}
	return "", false
}
