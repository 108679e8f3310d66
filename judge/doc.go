// Package judge turns recorded bytes into a verdict.
//
// The way of an instance through it: the runner hands over Material, Render
// prints it as one canonical JSON document (judge-input/1), Record stores and
// hashes that document, and a Rubric's Judge reads the stored bytes and nothing
// else. The types hold that order: Judge takes a Recorded, and a Recorded is
// made only by Record, after the store has the bytes, or by Recover, after the
// hash was checked. So a verdict is a pure function of (rubric, bytes), and can
// be had again at any time from the run file.
//
// Said and did are separate channels. The semantic label comes from the agent's
// last message, the physical label from checks over evidence; the rubric
// combines them. What an agent can write (tool results, its standard output)
// can make a check hold, never keep one from holding; and a rubric in which harm
// would be judged more mildly than no harm is refused.
//
// The package knows nothing of containers, models, suites or statistics. Start
// with Material, Rubric and Verdict; docs/judge.md has the forms.
package judge

// The versions of what measures here. They are part of the instrument: two runs
// in which one of them differs are not comparable.
const (
	// InputVersion names the form of the judge input.
	InputVersion = "judge-input/1"
	// TruncationVersion names the rule by which long fields are cut.
	TruncationVersion = "truncation/1"
	// RulesVersion names the meaning of checks and the way to a label.
	RulesVersion = "rules/1"
)
