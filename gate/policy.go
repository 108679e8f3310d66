package gate

import (
	"fmt"
	"math"

	"litmus/internal/inputerror"
)

// Policy says how much evidence a decision needs. The zero value is not a
// policy; start from DefaultPolicy.
type Policy struct {
	// NoiseFloor names the floor that decides. The other is computed and shown
	// all the same.
	NoiseFloor Floor `json:"noise_floor"`
	// Z is the quantile in the record floor, 1.96 in the record.
	Z float64 `json:"z"`
	// Alpha is the two-sided level of the paired test; intervals have 1 - Alpha.
	Alpha float64 `json:"alpha"`
	// MaxExcluded is the largest share of the manifest's rows that may be left
	// unpaired, from 0 to 1.
	MaxExcluded float64 `json:"max_excluded"`
	// MinDetectableEffect is the drop in the pass rate, from 0 to 1, that the
	// suite is trusted to see; nil if no such promise is made. A suite whose
	// MDE80 is larger is INCOMPLETE.
	MinDetectableEffect *float64 `json:"min_detectable_effect"`
}

// Floor names a noise floor.
type Floor string

// The noise floors: see docs/gate.md.
const (
	RecordFloor Floor = "record"
	PairedFloor Floor = "paired"
)

// DefaultPolicy is the records' operational rule.
func DefaultPolicy() Policy {
	return Policy{NoiseFloor: RecordFloor, Z: 1.96, Alpha: 0.05, MaxExcluded: 0.02}
}

// policyBounds of the numbers in a policy are inclusive. Below the least alpha
// Student's quantile loses its digits; see TestQuantilesHoldForEveryAlpha.
var policyBounds = map[string]struct{ low, high float64 }{
	"z":                     {0.01, 100},
	"alpha":                 {1e-6, 0.5},
	"max_excluded":          {0, 1},
	"min_detectable_effect": {0.000001, 1},
}

// policyFault returns what is wrong with a number of the policy, or "".
func policyFault(field string, value float64) string {
	b := policyBounds[field]
	if math.IsNaN(value) || value < b.low || value > b.high {
		return fmt.Sprintf("%v is not between %v and %v", value, b.low, b.high)
	}
	return ""
}

func (p Policy) check() error {
	if p.NoiseFloor != RecordFloor && p.NoiseFloor != PairedFloor {
		return &inputerror.Error{Field: "policy noise_floor", Msg: fmt.Sprintf("%q is neither record nor paired", p.NoiseFloor)}
	}
	numbers := map[string]float64{"z": p.Z, "alpha": p.Alpha, "max_excluded": p.MaxExcluded}
	if p.MinDetectableEffect != nil {
		numbers["min_detectable_effect"] = *p.MinDetectableEffect
	}
	for _, field := range []string{"z", "alpha", "max_excluded", "min_detectable_effect"} {
		value, given := numbers[field]
		if !given {
			continue
		}
		if fault := policyFault(field, value); fault != "" {
			return &inputerror.Error{Field: "policy " + field, Msg: fault}
		}
	}
	return nil
}
