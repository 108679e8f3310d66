package runfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// instant is the time of everything in tests that do not care.
var instant = time.Date(2026, 11, 10, 12, 0, 0, 5, time.UTC)

// instanceID names the nth row of testManifest.
func instanceID(n int) string { return fmt.Sprintf("case-%03d/plain/s1", n) }

// testManifest has the shape of a manifest and n rows. Its header is longer
// than a chunk and the rows are of unlike lengths, so that lines straddle chunks.
func testManifest(tb testing.TB, n int) []byte {
	tb.Helper()
	manifest, err := makeManifest(n, strings.Repeat("text of the rubric. ", 14_000))
	if err != nil {
		tb.Fatal(err)
	}
	return manifest
}

func makeManifest(n int, rubric string) ([]byte, error) {
	var b bytes.Buffer
	rows := []any{map[string]any{
		"format": "litmus-manifest/1",
		"counts": map[string]int{"instances": n},
		"rubric": rubric,
	}}
	for i := range n {
		rows = append(rows, map[string]any{
			"id":            instanceID(i),
			"mutation_hash": digest.Sum([]byte(instanceID(i))),
			"messages":      strings.Repeat("please ", i%97),
		})
	}
	for _, row := range rows {
		line, err := canon.Marshal(row)
		if err != nil {
			return nil, err
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes(), nil
}

// newRun makes a run file of n instances in a directory of the test's own.
func newRun(tb testing.TB, n int) (*Writer, string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.litmus")
	w, err := Create(tb.Context(), path, bytes.NewReader(testManifest(tb, n)), Meta{Facts: []byte(`{"host":"test"}`)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w, path
}

// outcome is all that one instance yields: a function of its id.
type outcome struct {
	record     Record
	judgeInput []byte
	blobs      [][]byte
	exchanges  []Exchange
}

func outcomeOf(a *Attempt) outcome {
	empty := true
	content := func(what string) []byte { return []byte(what + " of " + a.Instance + strings.Repeat(" and on", 40)) }
	hash := func(what string) digest.Hash { return digest.Sum(content(what)) }
	o := outcome{
		judgeInput: content("judge input"),
		blobs:      [][]byte{content("evidence"), content("transcript"), content("stdout"), {}},
		exchanges: []Exchange{
			{Seq: 0, Request: content("request"), Effective: content("effective"), Response: content("response"), Meta: []byte(`{"status":200}`)},
			{Seq: 1, Request: content("request again"), Meta: []byte(`{"error":"no answer"}`)},
		},
	}
	o.record = Record{
		Instance: a.Instance, MutationHash: a.MutationHash, Token: a.Token,
		EmptyAtStart: &empty,
		Staged:       hash("staged"),
		Final:        &Final{Root: hash("root"), Scratch: hash("scratch"), Shm: hash("shm")},
		Evidence:     hash("evidence"),
		Transcript:   hash("transcript"),
		Exit:         &Exit{Cause: "exited"},
		Stdout:       &Stream{Hash: hash("all of stdout"), Total: 1 << 30, Truncated: true, Head: hash("stdout")},
		Stderr:       &Stream{Hash: digest.Sum(nil)},
		JudgeInput:   hash("judge input"),
		Verdict:      rejudge(content("judge input")),
	}
	return o
}

// rejudge is a rules judge: a pure function of the input.
func rejudge(input []byte) *Verdict {
	v := &Verdict{Semantic: "REFUSED", Physical: "NOTHING", Label: "REFUSED", Class: "SAFE"}
	if digest.Sum(input)[0]&1 == 1 {
		v = &Verdict{Semantic: "REFUSED", Physical: "HARM", Label: "COMPLIED", Class: "UNSAFE", Hallucination: "refused-but-did"}
	}
	return v
}

var testHooks = Hooks{
	Rejudge: func(_ string, input []byte) (Verdict, error) { return *rejudge(input), nil },
}

// runInstance takes one instance the whole way, scored.
func runInstance(ctx context.Context, w *Writer, instance string) error {
	a, err := w.BeginAttempt(ctx, instance, instant)
	if err != nil {
		return err
	}
	o := outcomeOf(a)
	if err := a.PutJudgeInput(o.record.JudgeInput, o.judgeInput); err != nil {
		return err
	}
	record, err := NewScored(o.record)
	if err != nil {
		return err
	}
	return a.Commit(ctx, End{Facts: []byte(`{"seconds":1.5}`), At: instant.Add(time.Second), Exchanges: o.exchanges}, record, o.blobs...)
}

// sealedRun makes a sealed run file of n scored instances.
func sealedRun(tb testing.TB, n int) (string, Seal) {
	tb.Helper()
	w, path := newRun(tb, n)
	for i := range n {
		if err := runInstance(tb.Context(), w, instanceID(i)); err != nil {
			tb.Fatal(err)
		}
	}
	seal, err := w.Seal(tb.Context(), SealOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return path, seal
}

func wantNoFindings(tb testing.TB, path string) Report {
	tb.Helper()
	report, err := Verify(tb.Context(), path, testHooks)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range report.Findings[:min(5, len(report.Findings))] {
		tb.Errorf("unexpected finding: %s", f)
	}
	return report
}

func wantError(tb testing.TB, err, want error) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Fatalf("error is %v, want %v", err, want)
	}
}
