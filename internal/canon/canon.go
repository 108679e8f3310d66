// Package canon writes and checks the one JSON form that litmus hashes: the
// JSON Canonicalization Scheme, RFC 8785. It also has the reversible text form
// in which arbitrary bytes (file names, arguments of processes) stand in JSON
// strings; see Text.
//
// Equal values have equal bytes, so hashes may be taken of them. What has no
// exact canonical form is an error and never rounded: NaN, infinities, integers
// that a double can't hold, numbers too large or too small for any double,
// strings that are not UTF-8, members named twice.
package canon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxInteger bounds the integers that every reader of JSON holds exactly (RFC
// 8785, appendix D); the least is -MaxInteger.
const MaxInteger = 1<<53 - 1

// Error says where bytes stop being canonical JSON.
type Error struct {
	Offset int // in bytes from the start
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// Marshal returns v in canonical form, without a newline at the end. Struct
// tags are those of encoding/json; a nil slice is [] and a nil map is {}.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return canonicalize(b)
}

// canonicalize puts b into canonical form, in place where that is possible.
func canonicalize(b []byte) ([]byte, error) {
	if err := exactNumbers(b); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	value := jsontext.Value(b)
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return value, nil
}

// exactNumbers refuses numbers that canonicalization would change. RFC 8785
// takes every number for a double (section 3.2.2.3), which holds integers up to
// 2^53 and only some beyond, and has a largest and a smallest.
func exactNumbers(b []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token.Kind() != '0' {
			continue
		}
		literal := token.String()
		at := int(decoder.InputOffset()) - len(literal)
		switch {
		case isOutOfRange(literal):
			return &Error{at, "no double is near the number " + literal}
		case isRounded(literal):
			return &Error{at, "a double can't hold the integer " + literal}
		}
	}
}

// isOutOfRange reports whether the nearest double to literal is infinite, or is
// zero although literal is not.
func isOutOfRange(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
	return err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789")
}

// isRounded reports whether literal is an integer that the nearest double does
// not print again.
func isRounded(literal string) bool {
	const alwaysExact = 15 // decimal digits
	if len(literal) <= alwaysExact || strings.ContainsAny(literal, ".eE") {
		return false
	}
	f, err := strconv.ParseFloat(literal, 64)
	return err != nil || string(jsontext.AppendFloat(nil, f, 64)) != literal
}

// Check returns nil if b is exactly one JSON value in canonical form, with
// nothing before or after it, and otherwise an *Error.
func Check(b []byte) error {
	canonical, err := jsontext.AppendFormat(nil, b,
		jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true), jsontext.ReorderRawObjects(true))
	if err != nil {
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			return &Error{int(syntax.ByteOffset), syntax.Err.Error()}
		}
		return &Error{0, err.Error()}
	}
	if bytes.Equal(b, canonical) {
		return nil
	}
	return &Error{firstDifference(b, canonical), "valid JSON, but not in canonical form (RFC 8785)"}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
