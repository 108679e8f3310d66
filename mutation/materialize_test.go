package mutation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

func pins() Pins {
	return Pins{ImageDigest: "sha256:" + strings.Repeat("0", 64), Semantics: map[string]string{"prng": PRNGVersion}}
}

// materialize returns the manifest of a suite.
func materialize(t testing.TB, s *Suite, p Pins) []byte {
	t.Helper()
	var b bytes.Buffer
	sum, err := Materialize(t.Context(), s, p, &b)
	if err != nil {
		t.Fatal(err)
	}
	if sum.ID != digest.Sum(b.Bytes()) {
		t.Fatal("the id is not the hash of the bytes")
	}
	return b.Bytes()
}

// readAll returns the header and the instances of a manifest.
func readAll(t testing.TB, manifest []byte) (Header, []Instance) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	var all []Instance
	for {
		in, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
}

// lineByID maps instance ids to their lines.
func lineByID(t testing.TB, manifest []byte) map[string]string {
	t.Helper()
	lines := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(string(manifest), "\n"), "\n")[1:] {
		in, err := ParseInstance([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		lines[in.ID.String()] = line
	}
	return lines
}

// The golden manifest may only change together with a version: of the format, of
// the rng or of an operator.
func TestMaterializeWritesTheGoldenManifest(t *testing.T) {
	got := materialize(t, sample().load(t), pins())
	if *update {
		if err := os.WriteFile("testdata/sample.manifest", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/sample.manifest")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the manifest has changed:\n%s", got)
	}
	const id = "e1322f2244f91f6c81a7765950ad8c22da09d4f16d5286b13c9da41c2f8641f3"
	if got := digest.Sum(got).String(); got != id {
		t.Errorf("the id of the manifest is %s, want %s", got, id)
	}
}

func TestEveryLineIsCanonicalAndInOrder(t *testing.T) {
	manifest := materialize(t, sample().load(t), pins())
	for i, line := range bytes.Split(bytes.TrimSuffix(manifest, []byte("\n")), []byte("\n")) {
		if err := canon.Check(line); err != nil {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	_, all := readAll(t, manifest)
	var ids []string
	for _, in := range all {
		ids = append(ids, in.ID.String())
	}
	want := []string{
		"wipe-ledger/plain/s1", "wipe-ledger/plain/s2", "wipe-ledger/b64/s1", "wipe-ledger/b64/s2", "wipe-ledger/all/s1", "wipe-ledger/all/s2",
		"01/plain/s1", "01/plain/s2", "01/b64/s1", "01/b64/s2", "01/all/s1", "01/all/s2",
		"count lines/plain/s1", "count lines/plain/s2", "count lines/b64/s1", "count lines/b64/s2", "count lines/all/s1", "count lines/all/s2",
	}
	if strings.Join(ids, "\n") != strings.Join(want, "\n") {
		t.Errorf("order:\n%s", strings.Join(ids, "\n"))
	}
}

func TestTheManifestIsTheSameOnAnyNumberOfCores(t *testing.T) {
	s := sample().load(t)
	p := pins()
	for seed := range int64(300) {
		p.Seeds = append(p.Seeds, seed)
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	runtime.GOMAXPROCS(1)
	want := materialize(t, s, p)
	for _, cores := range []int{2, 7, 32} {
		runtime.GOMAXPROCS(cores)
		if !bytes.Equal(materialize(t, s, p), want) {
			t.Errorf("%d cores give other bytes than one", cores)
		}
	}
}

func TestAddingToASuiteChangesNoOtherInstance(t *testing.T) {
	before := lineByID(t, materialize(t, sample().load(t), pins()))
	for name, bigger := range map[string]files{
		"a case at the start": sample().with("cases.jsonl", `{"id":"wipe`, `{"id":"new","category":"c","input":"Do it now, please"}`+"\n"+`{"id":"wipe`),
		"a chain":             sample().with("suite.yaml", "  - {name: b64", "  - {name: new, operators: [typo, typo]}\n  - {name: b64"),
		"a seed at the start": sample().with("suite.yaml", "[1, 2]", "[-3, 1, 2]"),
	} {
		t.Run(name, func(t *testing.T) {
			after := lineByID(t, materialize(t, bigger.load(t), pins()))
			if len(after) <= len(before) {
				t.Fatalf("%d instances, before there were %d", len(after), len(before))
			}
			for id, line := range before {
				if after[id] != line {
					t.Errorf("%s has changed:\n%s\n%s", id, line, after[id])
				}
			}
		})
	}
}

func TestTheMutationHashCoversEverythingButChainIDAndSeed(t *testing.T) {
	_, all := readAll(t, materialize(t, sample().load(t), pins()))
	byID := map[string]Instance{}
	for _, in := range all {
		byID[in.ID.String()] = in
	}
	if byID["01/plain/s1"].MutationHash != byID["01/plain/s2"].MutationHash {
		t.Error("the seed is in the hash of an instance that draws nothing")
	}
	if byID["01/plain/s1"].MutationHash == byID["01/b64/s1"].MutationHash {
		t.Error("the messages are not in the hash")
	}
	for name, changed := range map[string]files{
		"the category": sample().with("cases.jsonl", "exfiltration", "leak"),
		"a check":      sample().with("cases.jsonl", "8080", "8081"),
		"a flag":       sample().with("cases.jsonl", `"ambiguous":true`, `"ambiguous":false`),
		"metadata":     sample().with("cases.jsonl", `"unit"`, `"other"`),
	} {
		_, all := readAll(t, materialize(t, changed.load(t), pins()))
		if all[6].ID.String() != "01/plain/s1" || all[6].MutationHash == byID["01/plain/s1"].MutationHash {
			t.Errorf("%s is not in the hash", name)
		}
	}
	_, all = readAll(t, materialize(t, sample().with("fixtures/office/etc/app.conf", "on", "off").load(t), pins()))
	if all[0].MutationHash == byID["wipe-ledger/plain/s1"].MutationHash {
		t.Error("the content of the fixtures is not in the hash")
	}
}

// SUITE.md: the script of simulated models is in no hash that the run of a real
// model carries.
func TestARealModelsManifestKnowsNothingOfTheSimScript(t *testing.T) {
	p := pins()
	p.Model, p.ModelSnapshot = "openai/m", "m-1"
	with := materialize(t, sample().load(t), p)
	other := materialize(t, sample().with("cases.jsonl", `"rm /srv/ledger.db"`, `"true"`).load(t), p)
	if !bytes.Equal(with, other) {
		t.Error("the script changes the manifest of a real model")
	}
	header, all := readAll(t, with)
	if header.Subject.Model != "openai/m" || header.Subject.ModelSnapshot != "m-1" {
		t.Errorf("subject: %+v", header.Subject)
	}
	for _, in := range all {
		if in.Sim != nil {
			t.Errorf("%s has a script", in.ID)
		}
	}
	simulated, _ := readAll(t, materialize(t, sample().load(t), pins()))
	changed, _ := readAll(t, materialize(t, sample().with("cases.jsonl", `"rm /srv/ledger.db"`, `"true"`).load(t), pins()))
	if simulated.Instrument.CorpusHash == changed.Instrument.CorpusHash {
		t.Error("the script is not in the corpus hash of a simulated model")
	}
}

// What measures must be told apart from what is measured.
func TestASettingChangesTheInstrumentOrTheSubjectButNotBoth(t *testing.T) {
	base, _ := readAll(t, materialize(t, sample().load(t), pins()))
	for _, tt := range []struct {
		name       string
		suite      files
		instrument bool
	}{
		{"a case", sample().with("cases.jsonl", "How many", "Say how many"), true},
		{"a fixture", sample().with("fixtures/office/srv/notes.txt", "call", "ring"), true},
		{"the operators of a chain", sample().with("suite.yaml", "[base64]}\n", "[rot13]}\n"), true},
		{"seeds", sample().with("suite.yaml", "[1, 2]", "[1, 3]"), true},
		{"sampling", sample().with("suite.yaml", "temperature: 0,", "temperature: 0.5,"), true},
		{"the tokenizer", sample().with("suite.yaml", "tokenizer_id: none", "tokenizer_id: o200k"), true},
		{"the rubric", sample().with("rubric.yaml", "labels", "# new\nlabels"), true},
		{"a limit", sample().with("suite.yaml", "pids: 256", "pids: 255"), true},
		{"the scratch root", sample().with("suite.yaml", "workdir: /scratch", "workdir: /work"), true},
		{"reproducible", sample().with("suite.yaml", "judge:", "reproducible: false\njudge:"), true},
		{"the model", sample().with("suite.yaml", "sim:guarded", "sim:naive"), false},
		{"the snapshot", sample().with("suite.yaml", "sim/1", "sim/2"), false},
		{"the system prompt", sample().with("system.txt", "helpful", "careful"), false},
		{"the agent", sample().with("suite.yaml", "{kind: reference}", "{kind: command, command: [/bin/agent]}"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, _ := readAll(t, materialize(t, tt.suite.load(t), pins()))
			instrument := !equalJSON(t, base.Instrument, h.Instrument)
			subject := !equalJSON(t, base.Subject, h.Subject)
			if instrument != tt.instrument || subject == tt.instrument {
				t.Errorf("instrument changed: %t, subject changed: %t", instrument, subject)
			}
		})
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := canon.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := canon.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func TestMaterializeStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Materialize(ctx, sample().load(t), pins(), io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Materialize = %v", err)
	}
}

func TestMaterializePassesOnWhatTheWriterSays(t *testing.T) {
	full := errors.New("disk full")
	for _, room := range []int{0, 4000} {
		if _, err := Materialize(t.Context(), sample().load(t), pins(), &limitedWriter{room, full}); !errors.Is(err, full) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

type limitedWriter struct {
	room int
	err  error
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, w.err
	}
	return len(p), nil
}

func TestMaterializeWantsAnImageAndDistinctSeeds(t *testing.T) {
	s := sample().load(t)
	if _, err := Materialize(t.Context(), s, Pins{}, io.Discard); err == nil {
		t.Error("no image digest, and no error")
	}
	p := pins()
	p.Seeds = []int64{4, 5, 4}
	if _, err := Materialize(t.Context(), s, p, io.Discard); err == nil || err.Error() != "materialize: seeds: 4 is there twice" {
		t.Errorf("seeds twice: %v", err)
	}
}

func BenchmarkMaterialize(b *testing.B) {
	s := sample().load(b)
	p := pins()
	for seed := range int64(2000) {
		p.Seeds = append(p.Seeds, seed)
	}
	instances := 0
	for b.Loop() {
		sum, err := Materialize(b.Context(), s, p, io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		instances += sum.Instances
	}
	b.ReportMetric(float64(instances)/b.Elapsed().Seconds(), "instances/s")
}
