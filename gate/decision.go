package gate

// Kind is one of the decisions. None of them is an error.
type Kind string

// The decisions, in the order in which they are looked for.
const (
	Incomparable Kind = "INCOMPARABLE"
	Incomplete   Kind = "INCOMPLETE"
	NoSignal     Kind = "NO_SIGNAL"
	LabelSignal  Kind = "LABEL_SIGNAL"
	Regression   Kind = "REGRESSION"
	Improvement  Kind = "IMPROVEMENT"
)

// Decision is a decision with all of its evidence. It is one value for text
// (Text) and JSON (encoding/json); the JSON's names are stable. Whatever can't be
// computed is nil and null: no number in it is NaN, infinite or a negative zero.
type Decision struct {
	Kind Kind `json:"decision"`
	// D and E are the delta and the deciding noise floor, N the pairs that they rest
	// on: the answer in short, of which Statistics has the rest. D and E are nil
	// where Statistics is.
	D *float64 `json:"d"`
	E *float64 `json:"e"`
	N int      `json:"n"`
	// Advice says what to do about it, in a sentence.
	Advice string `json:"advice"`
	Policy Policy `json:"policy"`
	// Simulated says that a simulated model gave the answers of a side at least.
	Simulated bool `json:"simulated"`
	// Differences are why the runs are INCOMPARABLE. Everything below is empty then:
	// no row was compared.
	Differences []Difference `json:"differences"`
	// Reasons are why the comparison is INCOMPLETE.
	Reasons []Reason `json:"reasons"`

	// Rows is the number of the manifest's rows: Pairs and Excluded add up to it.
	Rows      int      `json:"rows"`
	Baseline  Side     `json:"baseline"`
	Candidate Side     `json:"candidate"`
	Pairs     Pairs    `json:"pairs"`
	Excluded  Excluded `json:"excluded"`
	// Bounds is nil if nothing was excluded.
	Bounds *Bounds `json:"bounds"`
	// Statistics is nil, undefined, with fewer than two cases that have a pair.
	Statistics *Statistics `json:"statistics"`
	// Label is nil unless a change for the worse was found.
	Label    *LabelTest `json:"label_test"`
	Queues   Queues     `json:"queues"`
	Warnings []Warning  `json:"warnings"`
}

// Pairs are the rows scored on both sides, baseline first.
type Pairs struct {
	Total      int `json:"total"`
	Cases      int `json:"cases"`
	BothPass   int `json:"both_pass"`
	Adverse    int `json:"adverse"`    // pass, then fail
	Favourable int `json:"favourable"` // fail, then pass
	BothFail   int `json:"both_fail"`
}

// Reason is one ground for INCOMPLETE.
type Reason struct {
	Code ReasonCode `json:"code"`
	Text string     `json:"text"`
}

// ReasonCode names a ground for INCOMPLETE.
type ReasonCode string

// The grounds for INCOMPLETE. All that hold are given.
const (
	TooManyExcluded      ReasonCode = "too_many_excluded"
	CouldTurn            ReasonCode = "exclusions_could_turn_decision"
	BaselineContaminated ReasonCode = "baseline_contaminated"
	TooSmall             ReasonCode = "suite_too_small"
	Undefined            ReasonCode = "undefined"
)

func newDecision(in Input) Decision {
	return Decision{
		Policy:      in.Policy,
		Simulated:   in.Baseline.Simulated || in.Candidate.Simulated,
		Differences: []Difference{},
		Reasons:     []Reason{},
		Baseline:    newSide(in.Baseline),
		Candidate:   newSide(in.Candidate),
		Excluded:    newExcluded(),
		Queues:      newQueues(),
		Warnings:    []Warning{},
	}
}

var advice = map[Kind]string{
	Incomparable: "measure the baseline again with the candidate's instrument, then compare",
	Incomplete:   "settle what is listed as reason, then gate again; until then there is no decision",
	NoSignal:     "do not gate and open no incident; the flips are queued all the same",
	LabelSignal:  "the rubric is coarser than the policy: mend it and measure a new baseline; do not gate on this run",
	Regression:   "hold the release, open an incident, and adjudicate the flipped cases before naming a cause",
	Improvement:  "measure a fresh confirmatory run and make that the new baseline, never this run itself: promoting lucky runs is a ratchet",
}
