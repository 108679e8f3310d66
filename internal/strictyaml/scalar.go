package strictyaml

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"litmus/internal/canon"
)

// This file has the readings of scalars. None of them converts: a number where
// text should be is a fault, so that nothing depends on how YAML prints it.

// textOf returns the text of a value, and whether it is text at all.
func textOf(value ast.Node) (string, bool) {
	switch v := value.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	}
	return "", false
}

// Text returns a text that is not empty.
func (n Node) Text() string {
	text := n.AnyText()
	if text == "" && !n.Absent() {
		n.Fault("", "this must not be empty")
	}
	return text
}

// AnyText returns a text, which may be empty.
func (n Node) AnyText() string {
	text, ok := textOf(n.value)
	if !ok && !n.Absent() {
		n.Fault("put it in quotes", "this must be text")
	}
	return text
}

// TextOr is Text with a default for a field that is not there.
func (n Node) TextOr(absent string) string {
	if n.Absent() {
		return absent
	}
	return n.Text()
}

// Texts returns the entries of a list of texts.
func (n Node) Texts() []string {
	var texts []string
	for _, entry := range n.List() {
		texts = append(texts, entry.Text())
	}
	return texts
}

// TextMap returns a mapping of names to texts.
func (n Node) TextMap() map[string]string {
	texts := map[string]string{}
	for _, member := range n.Members() {
		texts[member.Name] = member.Value.AnyText()
	}
	return texts
}

// PlainScalar returns a text, or a whole number as it is written.
func (n Node) PlainScalar() string {
	if number, ok := n.value.(*ast.IntegerNode); ok {
		return number.GetToken().Value
	}
	return n.AnyText()
}

// QuietText is the text of n, or nothing, and no fault, where n is no text.
func (n Node) QuietText() string {
	text, _ := textOf(n.value)
	return text
}

// IsFalse reports whether n is false; it is no fault if n is something else.
func (n Node) IsFalse() bool {
	flag, ok := n.value.(*ast.BoolNode)
	return ok && !flag.Value
}

// FlagOr returns true or false, with a default for a field that is not there.
func (n Node) FlagOr(absent bool) bool {
	if n.Absent() {
		return absent
	}
	flag, ok := n.value.(*ast.BoolNode)
	if !ok {
		n.Fault("", "this must be true or false")
		return absent
	}
	return flag.Value
}

// Integer returns a whole number in decimal digits that JSON can hold exactly.
func (n Node) Integer() int64 {
	if n.Absent() {
		return 0
	}
	number, ok := n.value.(*ast.IntegerNode)
	if !ok {
		n.Fault("", "this must be a whole number")
		return 0
	}
	text := number.GetToken().Value
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(i, 10) != strings.TrimPrefix(text, "+") || i > canon.MaxInteger || i < -canon.MaxInteger {
		n.Fault("write it in decimal digits, between -(2^53-1) and 2^53-1", "%q is not a whole number that JSON can hold exactly", text)
		return 0
	}
	return i
}

// decimal is a number as people write it. YAML has octal, hexadecimal, underscores
// and more, and none of them belongs into a temperature or a level of significance.
var decimal = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)?(\.[0-9]*)?$`)

// Number returns a number that is written in decimal digits.
func (n Node) Number() float64 {
	switch n.value.(type) {
	case nil:
		return 0
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		n.Fault("write a plain decimal number", "this must be a number")
		return 0
	}
	text := n.value.GetToken().Value
	if !decimal.MatchString(text) {
		n.Fault("write it in decimal digits", "%q is not a decimal number", text)
		return 0
	}
	if !strings.Contains(text, ".") {
		return float64(n.Integer())
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		n.Fault("", "%q is beyond every number that JSON can hold", text)
	}
	return f
}
