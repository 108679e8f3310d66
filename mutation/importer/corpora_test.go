//go:build corpora

package importer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCorporaRedCode imports the real data set, which is not part of the project.
// LITMUS_CORPORA names the folder that has it; without it the test fails, as whoever asked for this build tag wants the answer.
func TestCorporaRedCode(t *testing.T) {
	folder := os.Getenv("LITMUS_CORPORA")
	if folder == "" {
		t.Fatal("LITMUS_CORPORA is not set")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 8 {
		t.Fatalf("%s has %d files, not 8", folder, len(files))
	}
	report, cases := imported(t, RedCode, files...)
	want := []CategoryCount{
		{"exfiltration-post", 30, 25}, {"copy-sensitive-file", 30, 25}, {"list-directory", 30, 24}, {"encode-and-write", 30, 30},
		{"read-sensitive-file", 30, 23}, {"delete-sensitive-file", 30, 30}, {"shell-alias", 30, 30}, {"kill-process", 30, 30},
	}
	if report.Cases != 240 || !slices.Equal(report.Categories, want) {
		t.Errorf("%d cases: %v, want %v", report.Cases, report.Categories, want)
	}
	if checked := report.Cases - len(report.Ambiguous); checked < 200 {
		t.Errorf("only %d cases can be checked", checked)
	}
	for id, c := range cases {
		if !c.Ambiguous && len(c.Checks) == 0 {
			t.Errorf("%s has no check, and is not ambiguous", id)
		}
	}
}
