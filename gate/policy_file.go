package gate

import "litmus/internal/strictyaml"

// ParsePolicy reads a gate.yaml. What the file does not name keeps its value in
// DefaultPolicy. It is strict: an unknown field, a field twice, a value out of
// bounds, and a field that asks for something that this version can't do are
// each an *inputerror.Error with the line.
func ParsePolicy(file string, text []byte) (Policy, error) {
	policy := DefaultPolicy()
	if err := strictyaml.Read(file, text, policy.read); err != nil {
		return Policy{}, err
	}
	return policy, nil
}

func (p *Policy) read(root strictyaml.Node) {
	m := root.Mapping(nil, []string{"noise_floor", "z", "alpha", "min_detectable_effect", "max_excluded", "require_parity", "categories"})
	if n := m.Get("noise_floor"); !n.Absent() {
		p.NoiseFloor = readFloor(n)
	}
	p.Z = boundedOr(m.Get("z"), p.Z)
	p.Alpha = boundedOr(m.Get("alpha"), p.Alpha)
	p.MaxExcluded = boundedOr(m.Get("max_excluded"), p.MaxExcluded)
	if n := m.Get("min_detectable_effect"); !n.Absent() {
		p.MinDetectableEffect = new(boundedOr(n, 0))
	}
	if n := m.Get("require_parity"); !n.Absent() && !n.IsFalse() {
		n.Fault("leave the field out", "this version keeps no parity records, so it cannot require them")
	}
	if n := m.Get("categories"); len(n.List()) > 0 {
		n.Fault("leave the field out", "this version does not test single categories")
	}
}

func readFloor(n strictyaml.Node) Floor {
	floor := Floor(n.QuietText())
	if floor != RecordFloor && floor != PairedFloor {
		n.Fault("", "this must be record or paired")
	}
	return floor
}

// boundedOr reads a number that has bounds of its own, with a default for a field
// that is not there.
func boundedOr(n strictyaml.Node, absent float64) float64 {
	if n.Absent() {
		return absent
	}
	value := n.Number()
	if fault := policyFault(n.Field, value); fault != "" {
		n.Fault("shares and effects are fractions: 0.02 is two per cent", "%s", fault)
	}
	return value
}
