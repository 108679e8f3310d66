package judge

import "fmt"

// InputError is a fault in a rubric's text, with its place and the way out.
type InputError struct {
	File string
	// Line counts from 1; it is 0 when the fault has no place in the text.
	Line int
	// Field is the path to the value, such as combine[2].label.
	Field string
	Msg   string
	Fix   string
}

func (e *InputError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, e.Line)
	}
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", where, e.Msg)
	}
	return fmt.Sprintf("%s: %s: %s", where, e.Field, e.Msg)
}

// Hint returns the way out.
func (e *InputError) Hint() string { return e.Fix }
