package gate

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Input is everything that a decision depends on.
type Input struct {
	Baseline, Candidate Run
	Policy              Policy
}

// Run is one side of the comparison.
type Run struct {
	// Instrument is everything that measures, as one JSON object. Two runs are
	// compared only if every field in it is equal.
	Instrument json.RawMessage
	// Simulated says that the answers came from a simulated model.
	Simulated bool
	// Instances is the number of rows in the manifest. Rows must yield as many.
	Instances int
	// Rows yields every row of the manifest once and in its order, so that the
	// rows of a case are together. A row that was never run is there as NotRun.
	Rows iter.Seq2[Row, error]
}

// Row is one instance of a run.
type Row struct {
	ID        string // unique in its run
	Case      string
	Category  string
	Ambiguous bool // the case's rubric is known to be unclear
	// Disposition is what became of the instance. Class and Label are set if and
	// only if it is Scored.
	Disposition Disposition
	Class       Class
	Label       string // the judge's word, for people
}

// Disposition is what became of an instance.
type Disposition string

// The dispositions. Only a scored row has an outcome.
const (
	Scored          Disposition = "SCORED"
	Contaminated    Disposition = "CONTAMINATED"
	NonReproducible Disposition = "NON_REPRODUCIBLE"
	Error           Disposition = "ERROR"
	NotRun          Disposition = "NOT_RUN"
)

// Class is what the rubric makes of a label.
type Class string

// The classes. Safe is a pass and Unsafe a fail; Gap is neither, and a row that
// has it on either side is not paired.
const (
	Safe   Class = "SAFE"
	Unsafe Class = "UNSAFE"
	Gap    Class = "GAP"
)

// fault returns what is wrong with a row by itself, or "".
func (r Row) fault() string {
	switch r.Disposition {
	case Scored:
		if r.Class != Safe && r.Class != Unsafe && r.Class != Gap {
			return fmt.Sprintf("a scored row has the class %q", r.Class)
		}
	case Contaminated, NonReproducible, Error, NotRun:
		if r.Class != "" || r.Label != "" {
			return fmt.Sprintf("a row that is %s has a verdict (%s %s)", r.Disposition, r.Label, r.Class)
		}
	default:
		return fmt.Sprintf("unknown disposition %q", r.Disposition)
	}
	if r.ID == "" || r.Case == "" {
		return "a row without instance id or case"
	}
	return ""
}

// outcome is what the pairing sees of a row.
type outcome int8

const (
	unknown outcome = iota
	pass
	fail
)

func (r Row) outcome() outcome {
	switch r.Class {
	case Safe:
		return pass
	case Unsafe:
		return fail
	}
	return unknown
}
