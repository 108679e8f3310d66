package mutation

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// This file has the readings of plain YAML values. None of them converts: a number
// where text should be is a fault, so that nothing depends on how YAML prints it.

// text returns a string that is not empty.
func (n yamlNode) text() string {
	text := n.anyText()
	if text == "" && !n.absent() {
		n.fault("", "this must not be empty")
	}
	return text
}

// anyText returns a string, which may be empty.
func (n yamlNode) anyText() string {
	switch v := n.value.(type) {
	case nil:
		return ""
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	}
	n.fault("put it in quotes", "this must be text")
	return ""
}

// textOr is text with a default for a field that is not there.
func (n yamlNode) textOr(absent string) string {
	if n.absent() {
		return absent
	}
	return n.text()
}

// flagOr reads true or false, with a default.
func (n yamlNode) flagOr(absent bool) bool {
	if n.absent() {
		return absent
	}
	flag, ok := n.value.(*ast.BoolNode)
	if !ok {
		n.fault("", "this must be true or false")
		return absent
	}
	return flag.Value
}

// maxSafeInteger bounds integers in canonical JSON (RFC 8785, after IEEE 754).
const maxSafeInteger = 1<<53 - 1

// integer reads a whole number in decimal digits.
func (n yamlNode) integer() int64 {
	number, ok := n.value.(*ast.IntegerNode)
	if !ok {
		n.fault("", "this must be a whole number")
		return 0
	}
	text := number.GetToken().Value
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(i, 10) != text || i > maxSafeInteger || i < -maxSafeInteger {
		n.fault("write it in decimal digits, between -(2^53-1) and 2^53-1", "%q is not a whole number that JSON can hold exactly", text)
		return 0
	}
	return i
}

// number reads a decimal number.
func (n yamlNode) number() float64 {
	switch n.value.(type) {
	case *ast.IntegerNode:
		return float64(n.integer())
	case *ast.FloatNode:
		text := n.value.GetToken().Value
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsAny(text, "_xXpP") {
			n.fault("write it in decimal digits", "%q is not a number", text)
		}
		return f
	}
	n.fault("", "this must be a number")
	return 0
}

// textMap reads a mapping of texts to texts.
func (n yamlNode) textMap() map[string]string {
	texts := map[string]string{}
	for _, member := range n.members() {
		texts[member.name] = member.value.anyText()
	}
	return texts
}
