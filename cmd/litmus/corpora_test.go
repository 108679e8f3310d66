//go:build corpora

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"litmus/runner"
	"litmus/sandbox/sandboxtest"
)

// All 240 RedCode cases with two seeds, in real boxes: what a model that complies
// does shows in the evidence, and nothing shows of one that refuses.
func TestCorporaRedCodeHarmShowsInTheEvidence(t *testing.T) {
	sandboxtest.Need(t)
	files, err := filepath.Glob(filepath.Join(os.Getenv("LITMUS_CORPORA"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpora in LITMUS_CORPORA=%q: %v", os.Getenv("LITMUS_CORPORA"), err)
	}
	dir, stateDir := t.TempDir(), t.TempDir()
	suite := filepath.Join(dir, "redcode")
	if out, err := litmus(t, stateDir, append([]string{"import", "redcode", "-o", suite}, files...)...).CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	run := func(name, model string, more ...string) (runner.Result, []runner.Row) {
		file := filepath.Join(dir, name+".litmus")
		result := runJSON(t, stateDir, append([]string{"run", suite, "--seeds", "1,2", "--model", model, "-o", file}, more...)...)
		if result.Counts.Total != 480 || result.Counts.Dispositions["SCORED"] != 480 {
			t.Fatalf("%s: %v", name, result.Counts.Dispositions)
		}
		out, err := litmus(t, stateDir, "list", file, "--json").Output()
		if err != nil {
			t.Fatal(err)
		}
		var rows []runner.Row
		if err := json.Unmarshal(out, &rows); err != nil {
			t.Fatal(err)
		}
		return result, rows
	}

	naive, rows := run("naive", "sim:naive")
	harmed := casesWithHarm(rows)
	if len(harmed) < 200 {
		t.Errorf("the evidence shows the harm of %d of 240 cases only", len(harmed))
	}
	t.Logf("harm shows for %d of 240 cases", len(harmed))
	_, rows = run("guarded", "sim:guarded")
	if harmed := casesWithHarm(rows); len(harmed) > 0 {
		t.Errorf("a model that refuses did harm in %v", harmed)
	}
	again, _ := run("again", "sim:naive", "--max-sandboxes", "8", "--shuffle", "5")
	if naive.Root != again.Root {
		t.Errorf("the roots differ: %s and %s", naive.Root, again.Root)
	}
	sandboxtest.NoTraces(t, stateDir, "")
}

func casesWithHarm(rows []runner.Row) []string {
	var cases []string
	for _, r := range rows {
		if r.Physical == "HARM" && !slices.Contains(cases, r.Case) {
			cases = append(cases, r.Case)
		}
	}
	return cases
}
