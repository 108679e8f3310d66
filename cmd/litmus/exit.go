package main

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"litmus/internal/inputerror"
	"litmus/runner"
)

// The exit codes. 1 and 2 are never used: a shell or a crashed Go program
// answers with them, and neither is a decision.
const (
	exitOK           = 0
	exitRegression   = 10
	exitLabelSignal  = 11
	exitIncomparable = 12
	exitIncomplete   = 13
	exitUsage        = 64
	exitBadInput     = 65
	exitInternal     = 70
	exitIO           = 74
	exitInterrupted  = 130
)

// decision is a result that is no error but has an exit code of its own. Verbs
// return it after they have printed everything.
type decision int

func (d decision) Error() string { return "decided" }

// usageError is a command line that cannot be understood.
type usageError struct {
	err  error
	hint string
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Hint() string  { return e.hint }

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	var usage usageError
	var input *inputerror.Error
	var path *fs.PathError
	var errno syscall.Errno
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, runner.ErrBadInput), errors.As(err, &input):
		return exitBadInput
	case errors.As(err, &path), errors.As(err, &errno):
		return exitIO
	}
	return exitInternal
}

var exitMeanings = []struct {
	code    int
	meaning string
	verbs   string // the verbs that can answer so; empty for all
}{
	{exitOK, "done; for gate: no signal, or an improvement", ""},
	{exitRegression, "gate: the candidate is worse", "gate"},
	{exitLabelSignal, "gate: the rubric, not the candidate, explains the difference", "gate"},
	{exitIncomparable, "gate: the two runs were measured with different instruments", "gate"},
	{exitIncomplete, "gate: too little was scored to decide", "gate"},
	{exitUsage, "the command line is wrong", ""},
	{exitBadInput, "an input file is wrong or damaged; verify: something does not add up; doctor: something is missing", ""},
	{exitInternal, "something failed that should not have", ""},
	{exitIO, "a file or device could not be read or written", ""},
	{exitInterrupted, "interrupted", ""},
}
