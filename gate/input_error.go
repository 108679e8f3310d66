package gate

import "fmt"

// InputError is a fault in what the gate was given: a policy file, a row, an
// instrument. It is never a decision.
type InputError struct {
	// File and Line are the place in a policy file; Line counts from 1. A fault
	// in a row has no file.
	File string
	Line int
	// Field is the policy's field or the row, such as `baseline row 3`.
	Field string
	Msg   string
	Fix   string
}

func (e *InputError) Error() string {
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

// Hint returns the way out, or nothing.
func (e *InputError) Hint() string { return e.Fix }
