// Package inputerror has the one error for what a user wrote: where it is, what
// is wrong with it, and the way out. Every room that reads a file returns it, so
// that a caller needs to know one type, and every complaint looks alike.
package inputerror

import "fmt"

// Error is a complaint about input. Msg is never empty; the other fields are
// where they are known.
type Error struct {
	File string
	// Line counts from 1; 0 is the file as a whole.
	Line int
	// Field is the path of the value inside of the file, as in limits.memory or
	// checks[0].kind.
	Field string
	Msg   string
	Fix   string
}

// Error returns "file:line: field: message", without the parts that are unknown.
func (e *Error) Error() string {
	text := e.Msg
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	switch {
	case e.File != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, text)
	case e.File != "":
		return e.File + ": " + text
	}
	return text
}

// Hint says what to do about it; it may be empty.
func (e *Error) Hint() string { return e.Fix }
