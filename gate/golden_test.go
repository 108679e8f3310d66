package gate

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew; review the difference")

// The text is what people read and the JSON's names are what programs rely on.
func TestDecisionsReadAsTheyDid(t *testing.T) {
	clustered := pairedRows{}
	for i := range 12 {
		for s := range 4 {
			result := [2]string{"safe", "safe"}
			switch {
			case i < 6 && s < 3:
				result = [2]string{"safe", "unsafe"}
			case i == 6 && s == 0:
				result = [2]string{"unsafe", "safe"}
			}
			clustered.add("case-"+digits(i), i == 4, result[0], result[1])
		}
	}
	excluded := flips(230, 3, 1, 5).with(6, "safe", "error").with(1, "contaminated", "gap")
	simulated := flips(209, 11, 0, 20).input(DefaultPolicy())
	simulated.Baseline.Simulated, simulated.Candidate.Simulated = true, true
	incomparable := flips(209, 11, 0, 20).input(DefaultPolicy())
	incomparable.Candidate.Instrument = []byte(`{"suite_hash":"ab","sampling":{"temperature":0.2}}`)

	for name, in := range map[string]Input{
		"no-signal":    simulated,
		"regression":   clustered.input(paired()),
		"label-signal": labelled(counts{196, 2, 0, 18}, counts{3, 19, 0, 2}).input(DefaultPolicy()),
		"improvement":  flips(200, 1, 22, 17).input(DefaultPolicy()),
		"incomparable": incomparable,
		"incomplete":   excluded.input(promising(0.02)),
		"undefined":    onePerCase([2]string{"safe", "unsafe"}).input(DefaultPolicy()),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", []byte(d.Text()))
			text, err := json.MarshalIndent(d, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", append(text, '\n'))
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "decisions", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s changed; run with -update and review\n%s", path, got)
	}
}
