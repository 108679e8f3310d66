package mutation

import (
	"fmt"
	"strings"
)

// InputError is a complaint about a file of a suite, with its place and the way
// out.
type InputError struct {
	File string
	// Line counts from 1; 0 is the file as a whole.
	Line int
	// Field is the path of the value inside the document, as in limits.memory
	// or checks[0].kind. It may be empty.
	Field string
	Msg   string
	Fix   string
}

// Error returns "file:line: field: message", without the parts that are unknown.
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Hint says what to do about it; it may be empty.
func (e *InputError) Hint() string { return e.Fix }
