// Package importer turns data sets of other harnesses into suites that run as
// they are.
//
// RedCode reads RedCode-Exec, whose cases are risky scripts with a description in
// words; Dataset reads CSV, JSON and JSONL with input, target, id and metadata.
// Both promise: the same files give the same bytes, in whatever order they are
// named; a suite appears whole or not at all, and never over something that is
// there already; nothing is dropped in silence. A case whose harm no check can
// see is imported as ambiguous, and the Report says why.
//
// The package reads files and writes one directory. It runs nothing, and knows
// nothing of boxes, models or judges; docs/import.md has the rules. What it
// complains about is a *inputerror.Error with file and line.
package importer
