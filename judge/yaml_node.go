package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// node is one value of a YAML file with its place. Its methods are the strict
// readings of it; what they return as error is an *InputError.
type node struct {
	file, field string
	line        int
	value       ast.Node
}

// parseYAML returns the one document in text.
func parseYAML(file string, text []byte) (node, error) {
	root := node{file: file}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			root.line = syntax.GetToken().Position.Line
			return node{}, root.fault("look at the line's indentation, quotes and colons", "%s", syntax.GetMessage())
		}
		return node{}, root.fault("", "%v", err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return node{}, root.fault("a rubric is one YAML document", "%d documents", len(parsed.Docs))
	}
	return root.child("", parsed.Docs[0].Body), nil
}

func (n node) child(field string, value ast.Node) node {
	c := node{file: n.file, field: n.field + field, line: n.line, value: value}
	if value != nil && value.GetToken() != nil && value.GetToken().Position != nil {
		c.line = value.GetToken().Position.Line
	}
	return c
}

func (n node) fault(fix, format string, args ...any) error {
	return &InputError{File: n.file, Line: n.line, Field: n.field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// member is one key of a mapping with its value.
type member struct {
	key   string
	value node
}

// members returns the keys of a mapping in the order of the text. A key twice is
// an error.
func (n node) members() ([]member, error) {
	var values []*ast.MappingValueNode
	switch v := n.value.(type) {
	case *ast.MappingNode:
		values = v.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{v}
	default:
		return nil, n.fault("", "this must be a mapping of names to values")
	}
	lines := map[string]int{}
	members := make([]member, 0, len(values))
	for _, pair := range values {
		at := n.child("", pair.Key)
		key, err := at.text()
		if err != nil {
			return nil, at.fault("", "a name must be plain text")
		}
		if first, twice := lines[key]; twice {
			return nil, at.fault("", "%q is here twice; first on line %d", key, first)
		}
		lines[key] = at.line
		value := at.child("", pair.Value)
		value.field = strings.TrimPrefix(n.field+"."+key, ".")
		members = append(members, member{key, value})
	}
	return members, nil
}

// fields returns the members of a mapping that has all of the required names,
// perhaps optional ones, and no other.
func (n node) fields(required, optional []string) (map[string]node, error) {
	members, err := n.members()
	if err != nil {
		return nil, err
	}
	known := slices.Concat(required, optional)
	fields := map[string]node{}
	for _, m := range members {
		if !slices.Contains(known, m.key) {
			return nil, m.value.fault("known fields: "+strings.Join(known, ", "), "unknown field")
		}
		fields[m.key] = m.value
	}
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			return nil, n.fault(fmt.Sprintf("add %q", name), "the field %q is missing", name)
		}
	}
	return fields, nil
}

// list returns the entries of a sequence.
func (n node) list() ([]node, error) {
	sequence, ok := n.value.(*ast.SequenceNode)
	if !ok {
		return nil, n.fault("", "this must be a list")
	}
	entries := make([]node, 0, len(sequence.Values))
	for i, value := range sequence.Values {
		entries = append(entries, n.child(fmt.Sprintf("[%d]", i), value))
	}
	return entries, nil
}

// text returns a string, or a whole number as it is written.
func (n node) text() (string, error) {
	switch v := n.value.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.LiteralNode:
		return v.Value.Value, nil
	case *ast.IntegerNode:
		return v.GetToken().Value, nil
	default:
		return "", n.fault("put it in quotes", "this must be text")
	}
}

// flag returns true or false.
func (n node) flag() (bool, error) {
	b, ok := n.value.(*ast.BoolNode)
	if !ok {
		return false, n.fault("", "this must be true or false")
	}
	return b.Value, nil
}
