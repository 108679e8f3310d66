package mutation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"litmus/internal/canon"
	"litmus/internal/inputerror"
)

// maxCaseLine bounds one line of a cases file, in bytes.
const maxCaseLine = 16 << 20

// byteOrderMark may stand at the start of a text file and means nothing.
var byteOrderMark = []byte("\ufeff")

// position is a line of a cases file.
type position struct {
	file string
	line int
}

func (p position) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// corpus collects the cases of a suite with their positions.
type corpus struct {
	cases     []Case
	positions []position
	byID      map[string]position
}

// read adds the cases of one file; name is what errors call it.
func (c *corpus) read(name string, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxCaseLine)
	at := position{name, 0}
	for lines.Scan() {
		at.line++
		line := lines.Bytes()
		if at.line == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if err := c.add(at, line); err != nil {
			return err
		}
	}
	at.line++
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return at.fault("", "", "the line is longer than %d bytes", maxCaseLine)
	} else if err != nil {
		return fmt.Errorf("read cases: %w", err)
	}
	if at.line == 1 {
		return &inputerror.Error{File: name, Msg: "it has no cases", Fix: "write one JSON object a line"}
	}
	return nil
}

// add takes one line in.
func (c *corpus) add(at position, line []byte) error {
	parsed, err := parseCase(line)
	if err != nil {
		return at.wrap(err)
	}
	if first, twice := c.byID[parsed.ID]; twice {
		return at.fault("id", "give each case an id of its own", "%q is here twice; first in %s", parsed.ID, first)
	}
	c.byID[parsed.ID] = at
	c.cases = append(c.cases, parsed)
	c.positions = append(c.positions, at)
	return nil
}

func (p position) fault(field, fix, format string, args ...any) error {
	return &inputerror.Error{File: p.file, Line: p.line, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// wrap gives an error about a case its place.
func (p position) wrap(err error) error {
	var field *fieldError
	if errors.As(err, &field) {
		return p.fault(field.field, field.fix, "%v", field.err)
	}
	return p.fault("", "", "%v", err)
}

// parseCase reads one line of a cases file. Its errors are *fieldError.
func parseCase(line []byte) (Case, error) {
	var c Case
	if len(bytes.TrimSpace(line)) == 0 {
		return c, wrong("", "remove it", "the line is blank")
	}
	if err := refuseNull(line); err != nil {
		return c, err
	}
	if err := json.Unmarshal(line, &c, json.RejectUnknownMembers(true)); err != nil {
		return c, decodeError(err)
	}
	// Only metadata can hold a number that the manifest would round.
	if _, err := canon.Marshal(jsontext.Value(line)); err != nil {
		return c, wrong("metadata", "put long numbers in quotes", "%w", err)
	}
	return c, c.validate()
}

// refuseNull refuses null outside of metadata: what is absent is left out.
func refuseNull(line []byte) error {
	decoder := jsontext.NewDecoder(bytes.NewReader(line))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return decodeError(err)
		}
		at := decoder.StackPointer()
		if token.Kind() == 'n' && !strings.HasPrefix(string(at), "/metadata/") {
			return wrong(fieldOf(at), "leave the field out", "it is null")
		}
	}
}

// decodeError turns what the JSON decoder says into a *fieldError.
func decodeError(err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return wrong(fieldOf(syntax.JSONPointer), "keep one of the two", "it is here twice, again at byte %d", syntax.ByteOffset+1)
	case errors.As(err, &syntax):
		return wrong(fieldOf(syntax.JSONPointer), "write one JSON object a line", "byte %d: not JSON: %w", syntax.ByteOffset+1, syntax.Err)
	case errors.As(err, &meaning) && errors.Is(err, json.ErrUnknownName):
		return wrong(fieldOf(meaning.JSONPointer), "docs/suite.md lists the fields of a case", "unknown field")
	case errors.As(err, &meaning):
		return wrong(fieldOf(meaning.JSONPointer), wantedKind(meaning), "a JSON %s can't stand here", meaning.JSONKind)
	}
	return wrong("", "", "%w", err)
}

// wantedKind says what would have been right in the place of a wrong type.
func wantedKind(e *json.SemanticError) string {
	if e.GoType == nil {
		return ""
	}
	switch kind := e.GoType.Kind().String(); kind {
	case "string":
		return "write a text, in quotes"
	case "bool":
		return "write true or false"
	case "int":
		return "write a whole number"
	case "slice":
		return "write a list"
	default:
		return "write an object"
	}
}

// fieldOf turns a JSON pointer into the form checks[0].kind.
func fieldOf(p jsontext.Pointer) string {
	var field strings.Builder
	for token := range p.Tokens() {
		switch {
		case strings.Trim(token, "0123456789") == "" && token != "" && field.Len() > 0:
			fmt.Fprintf(&field, "[%s]", token)
		case field.Len() > 0:
			field.WriteString("." + token)
		default:
			field.WriteString(token)
		}
	}
	return field.String()
}
