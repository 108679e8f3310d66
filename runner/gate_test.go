package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"litmus/gate"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// harmIn is a run in which the instances of the given ordinals did harm.
func harmIn(is func(ordinal int) bool) script {
	return func(ordinal int) (bool, runfile.Disposition) { return is(ordinal), runfile.Scored }
}

var noHarm = harmIn(func(int) bool { return false })

func decide(t *testing.T, baseline, candidate string) gate.Decision {
	t.Helper()
	d, err := Gate(t.Context(), baseline, candidate, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// instrumentChanges has, for each leaf of the instrument, a change of the suite
// or its surroundings that changes that leaf. A value of the suite stands as
// FILE: old => new.
var instrumentChanges = map[string]string{
	"suite_hash":                  "suite.yaml: name: plain => name: other",
	"corpus_hash":                 "cases.jsonl: task 0 => task zero",
	"seed_list_hash":              "suite.yaml: seeds: [1] => seeds: [2]",
	"sampling.frequency_penalty":  "suite.yaml: subject: => sampling: {frequency_penalty: 0.5}\nsubject:",
	"sampling.logit_bias":         "suite.yaml: subject: => sampling: {logit_bias: {\"50256\": -100}}\nsubject:",
	"sampling.max_tokens":         "suite.yaml: subject: => sampling: {max_tokens: 7}\nsubject:",
	"sampling.presence_penalty":   "suite.yaml: subject: => sampling: {presence_penalty: 0.5}\nsubject:",
	"sampling.repetition_penalty": "suite.yaml: subject: => sampling: {repetition_penalty: 1.1}\nsubject:",
	"sampling.seed":               "suite.yaml: subject: => sampling: {seed: 7}\nsubject:",
	"sampling.temperature":        "suite.yaml: subject: => sampling: {temperature: 0.2}\nsubject:",
	"sampling.top_k":              "suite.yaml: subject: => sampling: {top_k: 40}\nsubject:",
	"sampling.top_p":              "suite.yaml: subject: => sampling: {top_p: 0.9}\nsubject:",
	"tokenizer_id":                "suite.yaml: model_snapshot: sim/1 => model_snapshot: sim/1, tokenizer_id: o200k",
	"rubric.version":              "rubric.yaml: version: 1 => version: 2",
	"rubric.hash":                 "rubric.yaml: # How => # Why",
	"limits.memory":               "suite.yaml: subject: => environment: {limits: {memory: 1GiB}}\nsubject:",
	"limits.pids":                 "suite.yaml: subject: => environment: {limits: {pids: 99}}\nsubject:",
	"limits.writable":             "suite.yaml: subject: => environment: {limits: {writable: 1MiB}}\nsubject:",
	"limits.inodes":               "suite.yaml: subject: => environment: {limits: {inodes: 99}}\nsubject:",
	"limits.output":               "suite.yaml: subject: => environment: {limits: {output: 1KiB}}\nsubject:",
	"limits.turns":                "suite.yaml: subject: => environment: {limits: {turns: 3}}\nsubject:",
	"limits.tokens":               "suite.yaml: subject: => environment: {limits: {tokens: 999}}\nsubject:",
	"limits.deadline":             "suite.yaml: subject: => environment: {limits: {deadline: 9s}}\nsubject:",
	"environment.image":           "suite.yaml: subject: => environment: {image: \"oci-archive:a.tar\"}\nsubject:",
	"environment.workdir":         "suite.yaml: subject: => environment: {workdir: /work}\nsubject:",
	"reproducible":                "suite.yaml: subject: => reproducible: false\nsubject:",
	"environment.digest":          "pin",
	"semantics.evidence":          "pin",
	"semantics.judge_input":       "pin",
	"semantics.prng":              "pin",
	"semantics.rules":             "pin",
	"semantics.transcript":        "pin",
	"semantics.tree_hash":         "pin",
	"semantics.truncation":        "pin",
	"judge.kind":                  "", // there is one kind only
	"network":                     "", // and one network
}

// No result may be compared across any field of the instrument.
func TestADifferenceInAnyInstrumentFieldIsIncomparableAndNamed(t *testing.T) {
	manifest := scriptedManifest(t, scriptedSuite(t, 3, false), scriptedPins())
	baseline := scriptedRun(t, manifest, noHarm)
	for _, leaf := range instrumentLeaves(t, baseline) {
		change, known := instrumentChanges[leaf]
		if !known {
			t.Errorf("the table has no change for %s", leaf)
		}
		if change == "" {
			continue
		}
		t.Run(leaf, func(t *testing.T) {
			dir, pins := scriptedSuite(t, 3, false), scriptedPins()
			makeChange(t, dir, &pins, leaf, change)
			d := decide(t, baseline, scriptedRun(t, scriptedManifest(t, dir, pins), noHarm))
			if d.Kind != gate.Incomparable || d.Statistics != nil {
				t.Fatalf("the decision is %s", d.Kind)
			}
			i := slices.IndexFunc(d.Differences, func(x gate.Difference) bool { return x.Field == leaf })
			if i < 0 {
				t.Fatalf("%s is not among the differences %v", leaf, d.Differences)
			}
			for _, value := range []string{string(d.Differences[i].Baseline), string(d.Differences[i].Candidate)} {
				if !strings.Contains(d.Text(), leaf) || !strings.Contains(d.Text(), value) {
					t.Errorf("the text does not name %s and %s:\n%s", leaf, value, d.Text())
				}
			}
		})
	}
}

func makeChange(t *testing.T, dir string, pins *mutation.Pins, leaf, change string) {
	t.Helper()
	if change == "pin" {
		if name, ok := strings.CutPrefix(leaf, "semantics."); ok {
			pins.Semantics[name] += "x"
		} else {
			pins.ImageDigest = "sha256:" + strings.Repeat("1", 64)
		}
		return
	}
	file, edit, _ := strings.Cut(change, ": ")
	before, after, _ := strings.Cut(edit, " => ")
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), before) {
		t.Fatalf("%s has no %q", file, before)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), before, after, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// instrumentLeaves lists the dotted path of everything in the instrument of a run
// that is no object.
func instrumentLeaves(t *testing.T, path string) []string {
	t.Helper()
	s, err := Summarize(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var instrument any
	if err := json.Unmarshal(s.Instrument, &instrument); err != nil {
		t.Fatal(err)
	}
	leaves := leafPaths("", instrument)
	if len(leaves) < 30 {
		t.Fatalf("only %d leaves: %v", len(leaves), leaves)
	}
	return leaves
}

func leafPaths(prefix string, v any) []string {
	object, ok := v.(map[string]any)
	if !ok {
		return []string{prefix}
	}
	var paths []string
	for name, member := range object {
		paths = append(paths, leafPaths(strings.TrimPrefix(prefix+"."+name, "."), member)...)
	}
	slices.Sort(paths)
	return paths
}

func TestTheNumbersOfTheRecordsComeOut(t *testing.T) {
	below := func(n int) script { return harmIn(func(i int) bool { return i < n }) }
	for name, c := range map[string]struct {
		baseline, candidate script
		kind                gate.Kind
		says                string
	}{
		"220 against 210 of 240 lies in the noise":   {below(20), below(30), gate.NoSignal, "4.95"},
		"240 against 239 of 240 does not fire":       {below(0), below(1), gate.NoSignal, "239/240"},
		"11 flips in one direction split the floors": {below(20), below(31), gate.NoSignal, "floors disagree"},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := scriptedManifest(t, scriptedSuite(t, 240, false), scriptedPins())
			d := decide(t, scriptedRun(t, manifest, c.baseline), scriptedRun(t, manifest, c.candidate))
			if d.Kind != c.kind {
				t.Errorf("the decision is %s:\n%s", d.Kind, d.Text())
			}
			if !strings.Contains(d.Text(), c.says) {
				t.Errorf("the text does not say %q:\n%s", c.says, d.Text())
			}
		})
	}
}

func TestAWholeRunVerifiesAndEveryVerdictIsJudgedAgain(t *testing.T) {
	manifest := scriptedManifest(t, scriptedSuite(t, 4, false), scriptedPins())
	v, err := Verify(t.Context(), scriptedRun(t, manifest, noHarm))
	if err != nil || !v.OK || v.Rejudged != 4 {
		t.Fatalf("%+v, %v", v, err)
	}
}
