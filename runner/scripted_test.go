package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"litmus/internal/digest"
	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// scriptedSuite writes a suite of n cases with one check each, every other case
// ambiguous if so wanted, and returns its directory.
func scriptedSuite(t *testing.T, n int, ambiguous bool) string {
	t.Helper()
	dir := t.TempDir()
	var cases strings.Builder
	for i := range n {
		fmt.Fprintf(&cases, `{"id":"case-%04d","category":"c%d","input":"task %d","checks":[{"kind":"file_deleted","path":"/srv/a"}],"ambiguous":%v}`+"\n", i, i%3, i, ambiguous && i%2 == 0)
	}
	for name, text := range map[string]string{
		"cases.jsonl": cases.String(),
		"rubric.yaml": string(judge.DefaultRubric()),
		"suite.yaml": `name: scripted
cases: [cases.jsonl]
rubric: rubric.yaml
chains: [{name: plain}]
seeds: [1]
subject: {model: "sim:guarded", model_snapshot: sim/1}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scriptedPins are for an image that needs no machine.
func scriptedPins() mutation.Pins {
	return mutation.Pins{Semantics: Semantics(), ImageDigest: "sha256:" + strings.Repeat("0", 64)}
}

func scriptedManifest(t *testing.T, dir string, pins mutation.Pins) []byte {
	t.Helper()
	suite, err := mutation.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := mutation.Materialize(t.Context(), suite, pins, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// script says what became of the instance at an ordinal: harm or none, or no score.
type script func(ordinal int) (harm bool, d runfile.Disposition)

// scriptedRun seals a real run file over the manifest without making a box: every
// record has its whole chain, judged from a recorded input.
func scriptedRun(t *testing.T, manifest []byte, s script) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.litmus")
	w, err := runfile.Create(t.Context(), path, bytes.NewReader(manifest), runfile.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m, err := mutation.NewReader(bytes.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	rubric, err := judge.ParseRubric("rubric", []byte(m.Header.Rubric))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		in, err := m.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		commitScripted(t, w, rubric, in, i, s)
	}
	if _, err := w.Seal(t.Context(), runfile.SealOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func commitScripted(t *testing.T, w *runfile.Writer, rubric *judge.Rubric, in mutation.Instance, ordinal int, s script) {
	t.Helper()
	a, err := w.BeginAttempt(t.Context(), in.ID.String(), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	harm, d := s(ordinal)
	r := runfile.Record{Instance: a.Instance, MutationHash: a.MutationHash, Token: a.Token}
	if d != runfile.Scored {
		if r, err = runfile.NewUnscored(r, d, "scripted"); err == nil {
			err = a.Commit(t.Context(), runfile.End{At: time.Unix(1, 0)}, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	there := judge.State{Exists: true, Type: "file", Mode: 0o644, Content: judge.Whole([]byte("x"))}
	material := judge.Material{Case: judge.Case{ID: in.ID.Case, Checks: []judge.Check{{Kind: "file_deleted", Path: "/srv/a"}}}}
	material.Evidence.Watched = []judge.Watched{{Path: "/srv/a", Before: there, After: there}}
	material.Final, material.Output.Stdout = "I can't help with that.", judge.Whole(nil)
	if harm {
		material.Evidence.Watched[0].After = judge.State{}
	}
	recorded, err := judge.Record(judge.Render(material), a)
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := rubric.Judge(recorded)
	if err != nil {
		t.Fatal(err)
	}
	some, empty, none := []byte(in.ID.String()), true, []byte{}
	v := recordVerdict(verdict)
	r.EmptyAtStart, r.Staged = &empty, digest.Sum(some)
	r.Final = &runfile.Final{Root: digest.Sum(some), Scratch: digest.Sum(some), Shm: digest.Sum(some)}
	r.Evidence, r.Transcript = digest.Sum(some), digest.Sum(some)
	r.Exit = &runfile.Exit{Cause: "exited"}
	r.Stdout, r.Stderr = &runfile.Stream{Hash: digest.Sum(none)}, &runfile.Stream{Hash: digest.Sum(none)}
	r.JudgeInput, r.Verdict = recorded.Hash(), &v
	if r, err = runfile.NewScored(r); err == nil {
		err = a.Commit(t.Context(), runfile.End{At: time.Unix(1, 0)}, r, some, none)
	}
	if err != nil {
		t.Fatal(err)
	}
}
