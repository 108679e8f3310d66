package gate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const policyFields = "noise_floor, z, alpha, min_detectable_effect, max_excluded, require_parity, categories"

// largestPolicy is in bytes. A policy has seven fields, and the time that the YAML
// parser takes grows with the square of a nested text.
const largestPolicy = 16 << 10

var byteOrderMark = []byte("\ufeff")

// ParsePolicy reads a gate.yaml. What the file does not name keeps its value in
// DefaultPolicy. It is strict: an unknown field, a field twice, a value out of
// bounds, and a field that asks for something that this version can't do are
// each an *InputError with the line.
func ParsePolicy(file string, text []byte) (Policy, error) {
	fields, err := policyMapping(file, text)
	if err != nil {
		return Policy{}, err
	}
	policy := DefaultPolicy()
	for _, pair := range fields {
		name := pair.Key.GetToken().Value
		at := policyField{file, pair.Key.GetToken().Position.Line, name, pair.Value}
		if err := policy.set(at); err != nil {
			return Policy{}, err
		}
	}
	return policy, nil
}

// policyMapping returns the fields of the one mapping that a policy file is. An
// empty file has none. The parser itself refuses a field that is there twice.
func policyMapping(file string, text []byte) ([]*ast.MappingValueNode, error) {
	if len(text) > largestPolicy {
		return nil, &InputError{File: file, Msg: fmt.Sprintf("%d bytes are no policy; the most is %d", len(text), largestPolicy)}
	}
	parsed, err := parser.ParseBytes(bytes.TrimPrefix(text, byteOrderMark), 0)
	if err != nil {
		bad := &InputError{File: file, Msg: err.Error()}
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			bad.Line, bad.Msg = syntax.GetToken().Position.Line, syntax.GetMessage()
		}
		return nil, bad
	}
	if len(parsed.Docs) > 1 {
		return nil, &InputError{File: file, Msg: fmt.Sprintf("%d documents", len(parsed.Docs)), Fix: "a policy is one YAML document"}
	}
	if len(parsed.Docs) == 0 {
		return nil, nil
	}
	switch body := parsed.Docs[0].Body.(type) {
	case nil, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return body.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, nil
	default:
		return nil, &InputError{File: file, Line: body.GetToken().Position.Line, Msg: "not a mapping of names to values", Fix: "known fields: " + policyFields}
	}
}

// policyField is one field of a policy file with its place.
type policyField struct {
	file  string
	line  int
	name  string
	value ast.Node
}

func (f policyField) fault(fix, format string, args ...any) error {
	return &InputError{File: f.file, Line: f.line, Field: f.name, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

func (p *Policy) set(f policyField) error {
	switch f.name {
	case "noise_floor":
		return f.floor(&p.NoiseFloor)
	case "z":
		return f.number(&p.Z)
	case "alpha":
		return f.number(&p.Alpha)
	case "max_excluded":
		return f.number(&p.MaxExcluded)
	case "min_detectable_effect":
		p.MinDetectableEffect = new(float64)
		return f.number(p.MinDetectableEffect)
	case "require_parity":
		if off, ok := f.value.(*ast.BoolNode); ok && !off.Value {
			return nil
		}
		return f.fault("leave the field out", "this version keeps no parity records, so it cannot require them")
	case "categories":
		if none, ok := f.value.(*ast.SequenceNode); ok && len(none.Values) == 0 {
			return nil
		}
		return f.fault("leave the field out", "this version does not test single categories")
	}
	return f.fault("known fields: "+policyFields, "unknown field")
}

func (f policyField) floor(to *Floor) error {
	text, ok := f.value.(*ast.StringNode)
	if !ok || text.Value != string(RecordFloor) && text.Value != string(PairedFloor) {
		return f.fault("", "must be record or paired")
	}
	*to = Floor(text.Value)
	return nil
}

func (f policyField) number(to *float64) error {
	switch f.value.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		return f.fault("write a plain decimal number; shares and effects are fractions: 0.02 is two per cent", "must be a number")
	}
	// Read by our own hand: YAML has octal, hexadecimal and underscores, and none
	// of them belongs into a level of significance.
	value, err := strconv.ParseFloat(strings.TrimPrefix(f.value.GetToken().Value, "+"), 64)
	if err != nil {
		return f.fault("write a plain decimal number", "%q is not a decimal number", f.value.GetToken().Value)
	}
	if fault := policyFault(f.name, value); fault != "" {
		return f.fault("shares and effects are fractions: 0.02 is two per cent", "%s", fault)
	}
	*to = value
	return nil
}
