package runner

import (
	"errors"
	"fmt"

	"litmus/gate"
	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// ErrBadInput marks an error whose cause is a file or a name that the user gave.
var ErrBadInput = errors.New("bad input")

// InputError is a complaint about what the user gave, with the way out.
type InputError struct {
	Msg, Fix string
}

func (e *InputError) Error() string        { return e.Msg }
func (e *InputError) Hint() string         { return e.Fix }
func (e *InputError) Is(target error) bool { return target == ErrBadInput }

func badInput(fix, format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...), fix}
}

// classify marks the leaves' own complaints about input, so that a caller needs
// to know one sentinel only.
func classify(err error) error {
	var suite *mutation.InputError
	var manifest *mutation.ManifestError
	var rubric *judge.InputError
	var policy *gate.InputError
	switch {
	case errors.As(err, &suite), errors.As(err, &manifest), errors.As(err, &rubric), errors.As(err, &policy),
		errors.Is(err, runfile.ErrNotRunFile), errors.Is(err, runfile.ErrDamaged),
		errors.Is(err, runfile.ErrVersion), errors.Is(err, runfile.ErrUnsealed),
		errors.Is(err, runfile.ErrUnknownInstance), errors.Is(err, runfile.ErrLocked):
		return badInputError{err}
	}
	return err
}

type badInputError struct{ error }

func (e badInputError) Unwrap() error        { return e.error }
func (e badInputError) Is(target error) bool { return target == ErrBadInput }
