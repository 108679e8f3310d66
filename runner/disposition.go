package runner

import (
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// The reasons of an ERROR. A reason is a word, because it is part of the record
// and must come out the same again; what exactly happened is in the facts.
const (
	reasonBox      = "box"         // the box could not be made, watched or cleared
	reasonModel    = "model"       // the model gave no answer
	reasonDeadline = "deadline"    // the agent ran out of time
	reasonInit     = "init-lost"   // PID 1 of the box ended before the agent
	reasonStart    = "agent-start" // the agent's command could not be executed
	reasonStaged   = "staged tree" // what was staged is not what the manifest says
	reasonNotEmpty = "not empty"   // the box was not empty at its start
	reasonJudge    = "judge"       // the judge could not read its input
	reasonOracle   = "reproducible: false"
)

// disposition is the one function from what happened to a disposition. The first
// cause wins: a box that was not cleared makes everything after it doubtful.
// What the agent did within its limits, however it ended, is scored.
func disposition(h *happening) (runfile.Disposition, string) {
	switch {
	case h.boxError != nil:
		return runfile.Error, reasonBox
	case !h.outcome.EmptyAtStart:
		return runfile.Contaminated, reasonNotEmpty
	case h.outcome.Staged != h.staged:
		return runfile.Contaminated, reasonStaged
	case h.outcome.Exit.Cause == sandbox.InitLost:
		return runfile.Error, reasonInit
	case h.outcome.Exit.Cause == sandbox.StartError:
		return runfile.Error, reasonStart
	case h.transcript.Err() != nil:
		return runfile.Error, reasonModel
	case h.outcome.Exit.Cause == sandbox.Deadline:
		return runfile.Error, reasonDeadline
	}
	return runfile.Scored, ""
}
