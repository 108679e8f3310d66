package runner

import (
	"errors"
	"fmt"

	"litmus/internal/inputerror"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// ErrBadInput marks an error whose cause is a file or a name that the user gave.
var ErrBadInput = errors.New("bad input")

// badInput is a complaint about what the user gave, with the way out.
func badInput(fix, format string, args ...any) error {
	return badInputError{&inputerror.Error{Msg: fmt.Sprintf(format, args...), Fix: fix}}
}

// classify marks the leaves' own complaints about input, so that a caller needs
// to know one sentinel only.
func classify(err error) error {
	var input *inputerror.Error
	var manifest *mutation.ManifestError
	switch {
	case errors.As(err, &input), errors.As(err, &manifest),
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
