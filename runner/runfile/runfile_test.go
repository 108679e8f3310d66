package runfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"litmus/internal/digest"
)

func TestARunFromManifestToSealIsReadBackWhole(t *testing.T) {
	ctx := t.Context()
	const n = 20
	path, seal := sealedRun(t, n)

	report := wantNoFindings(t, path)
	if report.Instances != n || report.Records != n || report.Attempts != n || report.Rejudged != n || report.Seal != seal {
		t.Errorf("report is %+v", report)
	}

	f, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	manifest, err := io.ReadAll(f.Manifest(ctx))
	if err != nil || !bytes.Equal(manifest, testManifest(t, n)) {
		t.Errorf("the manifest is not what was put in: %d bytes, %v", len(manifest), err)
	}
	if f.ManifestID != digest.Sum(manifest) {
		t.Errorf("manifest id is %s", f.ManifestID)
	}
	for i, want := range bytes.Split(manifest, []byte("\n"))[1 : n+1] {
		got, err := f.ManifestLine(ctx, instanceID(i))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("line of %s is %q, %v", instanceID(i), got, err)
		}
	}
	got, err := f.Instance(ctx, instanceID(7))
	if err != nil || got.Ordinal != 7 || got.Record == nil || len(got.Attempts) != 1 || !got.Attempts[0].Won {
		t.Fatalf("instance is %+v, %v", got, err)
	}
	seq := 0
	for e, err := range f.Exchanges(ctx, got.Attempts[0].ID) {
		if err != nil || e.Seq != seq || len(e.Request) == 0 || (e.Response == nil) != (seq == 1) {
			t.Errorf("exchange %d is %+v, %v", seq, e, err)
		}
		seq++
	}
	if seq != 2 {
		t.Errorf("%d exchanges, want 2", seq)
	}
	transcript, err := f.Blob(ctx, got.Record.Transcript)
	if err != nil || !bytes.HasPrefix(transcript, []byte("transcript of case-007")) {
		t.Errorf("transcript is %q, %v", transcript, err)
	}
}

func TestASealedRunIsOneFile(t *testing.T) {
	path, _ := sealedRun(t, 2)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wantNoFindings(t, path)
	_, err = Resume(t.Context(), path)
	wantError(t, err, ErrSealed)

	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading changed the file: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file lies something: %v, %v", entries, err)
	}
}

func TestARunIsSealedWhileSomebodyLooksOn(t *testing.T) {
	ctx := t.Context()
	w, path := newRun(t, 2)
	for i := range 2 {
		if err := runInstance(ctx, w, instanceID(i)); err != nil {
			t.Fatal(err)
		}
	}
	onlooker, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer onlooker.Close()
	if _, err := onlooker.SealInfo(ctx); !errors.Is(err, ErrUnsealed) {
		t.Fatalf("before the seal it is %v", err)
	}
	seal, err := w.Seal(ctx, SealOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if seen, err := onlooker.SealInfo(ctx); err != nil || seen != seal {
		t.Errorf("the onlooker sees %+v, %v", seen, err)
	}
	wantNoFindings(t, path)
	wantNoFindings(t, copyOf(t, path)) // all of it is in the one file
	if err := onlooker.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Resume(ctx, path)
	wantError(t, err, ErrSealed)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("beside the file lies something: %v, %v", entries, err)
	}
}

// Two runs on the same manifest must have the same root, whoever was first.
func TestTheRootDoesNotDependOnOrderOrRetriesOrInterruption(t *testing.T) {
	ctx := t.Context()
	const n = 25
	_, want := sealedRun(t, n)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w, path := newRun(t, n)
		for _, i := range rng.Perm(n) {
			switch rng.IntN(4) {
			case 0: // an attempt that came to nothing
				a, err := w.BeginAttempt(ctx, instanceID(i), instant)
				if err != nil {
					t.Fatal(err)
				}
				if err := a.Finish(ctx, End{Cause: "upstream", At: instant}); err != nil {
					t.Fatal(err)
				}
			case 1: // a process that died with a judge input on file
				a, err := w.BeginAttempt(ctx, instanceID(i), instant)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.PutBlob(ctx, []byte("half a transcript")); err != nil {
					t.Fatal(err)
				}
				if err := a.PutJudgeInput(outcomeOf(a).record.JudgeInput, outcomeOf(a).judgeInput); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if w, err = Resume(ctx, path); err != nil {
					t.Fatal(err)
				}
			}
			if err := runInstance(ctx, w, instanceID(i)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.Seal(ctx, SealOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Root != want.Root {
			t.Errorf("seed %d: root is %s, want %s", seed, got.Root, want.Root)
		}
		if got.Facts == want.Facts {
			t.Errorf("seed %d: the facts hash does not see the other attempts", seed)
		}
		wantNoFindings(t, path)
	}
}

func TestConcurrentInstancesAreAllCommitted(t *testing.T) {
	ctx := t.Context()
	const n, workers = 64, 8
	w, path := newRun(t, n)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < n; i += workers {
				if err := runInstance(ctx, w, instanceID(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	counts, err := w.Counts(ctx)
	if err != nil || counts.Records != n || counts.Dispositions[Scored] != n {
		t.Errorf("counts are %+v, %v", counts, err)
	}
	if _, err := w.Seal(ctx, SealOptions{}); err != nil {
		t.Fatal(err)
	}
	wantNoFindings(t, path)
}

func TestASecondRecordForAnInstanceIsRefused(t *testing.T) {
	ctx := t.Context()
	w, _ := newRun(t, 2)
	if err := runInstance(ctx, w, instanceID(0)); err != nil {
		t.Fatal(err)
	}
	wantError(t, runInstance(ctx, w, instanceID(0)), ErrCommitted)

	done, err := w.Done(ctx, instanceID(0))
	if err != nil || !done {
		t.Errorf("done is %v, %v", done, err)
	}
	done, err = w.Done(ctx, instanceID(1))
	if err != nil || done {
		t.Errorf("done of an instance without a record is %v, %v", done, err)
	}
	_, err = w.Done(ctx, "nobody/plain/s1")
	wantError(t, err, ErrUnknownInstance)
}

func TestAnAttemptEndsOnce(t *testing.T) {
	ctx := t.Context()
	w, _ := newRun(t, 1)
	a, err := w.BeginAttempt(ctx, instanceID(0), instant)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.BeginAttempt(ctx, instanceID(0), instant)
	wantError(t, err, ErrInFlight)
	_, err = w.Seal(ctx, SealOptions{})
	wantError(t, err, ErrInFlight)
	if err := a.Finish(ctx, End{Cause: "box", At: instant}); err != nil {
		t.Fatal(err)
	}
	if err := a.Finish(ctx, End{Cause: "box", At: instant}); err == nil {
		t.Error("a second end of the attempt is accepted")
	}
	again, err := w.BeginAttempt(ctx, instanceID(0), instant)
	if err != nil || again.N != 2 || again.Token != a.Token {
		t.Errorf("the next attempt is %+v, %v", again, err)
	}
}

func TestResumeFindsAttemptsAbandoned(t *testing.T) {
	ctx := t.Context()
	w, path := newRun(t, 1)
	if _, err := w.BeginAttempt(ctx, instanceID(0), instant); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := Resume(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got, err := w.Instance(ctx, instanceID(0))
	if err != nil || len(got.Attempts) != 1 {
		t.Fatalf("instance is %+v, %v", got, err)
	}
	if a := got.Attempts[0]; a.State != "abandoned" || !a.Started.Equal(instant) || !a.Finished.IsZero() {
		t.Errorf("attempt is %+v", a)
	}
}

func TestASealNeedsARecordOfEverySelectedRow(t *testing.T) {
	ctx := t.Context()
	w, path := newRun(t, 10)
	for _, i := range []int{2, 3} {
		if err := runInstance(ctx, w, instanceID(i)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Seal(ctx, SealOptions{})
	wantError(t, err, ErrIncomplete)
	_, err = w.Seal(ctx, SealOptions{Selection: func(ordinal int64) bool { return ordinal <= 4 && ordinal >= 2 }})
	wantError(t, err, ErrIncomplete)

	seal, err := w.Seal(ctx, SealOptions{Selection: func(ordinal int64) bool { return ordinal == 2 }})
	if err != nil || seal.Records != 10 {
		t.Fatalf("seal is %+v, %v", seal, err)
	}
	wantNoFindings(t, path)
	f, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts, err := f.Counts(ctx)
	if err != nil || counts.Dispositions[Scored] != 2 || counts.Dispositions[NotRun] != 8 || counts.Instances != 10 {
		t.Errorf("counts are %+v, %v", counts, err)
	}
	got, err := f.Instance(ctx, instanceID(9))
	if err != nil || got.Record.Reason != NotSelected {
		t.Errorf("instance is %+v, %v", got, err)
	}
}

func TestRecordsAreFilteredAndPagedInManifestOrder(t *testing.T) {
	ctx := t.Context()
	const n = 30
	path, _ := sealedRun(t, n)
	f, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	byLabel := map[string]int{}
	for _, label := range []string{"", "REFUSED", "COMPLIED", "nobody says this"} {
		page := Page{After: FirstPage, Limit: 4}
		for {
			before := page.After
			for row, err := range f.Records(ctx, Filter{Disposition: Scored, Label: label}, page) {
				if err != nil || row.Ordinal <= page.After || row.Record.Instance != instanceID(int(row.Ordinal)) {
					t.Fatalf("row is %+v, %v", row, err)
				}
				page.After = row.Ordinal
				byLabel[label]++
			}
			if page.After == before {
				break
			}
		}
	}
	if byLabel[""] != n || byLabel["REFUSED"]+byLabel["COMPLIED"] != n || byLabel["nobody says this"] != 0 || byLabel["REFUSED"] == 0 {
		t.Errorf("rows by label: %v", byLabel)
	}
	for range f.Records(ctx, Filter{Disposition: Error}, Page{After: FirstPage}) {
		t.Error("there is a record of a disposition that nothing has")
	}
}

func TestTheFileIsRefused(t *testing.T) {
	ctx := t.Context()
	path, _ := sealedRun(t, 1)
	directory := t.TempDir()
	write := func(name string, content []byte) string {
		file := filepath.Join(directory, name)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	sealed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(sealed)
	newer[63] = formatVersion + 1 // user_version, the last byte of four
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"that is not there":              {filepath.Join(directory, "none"), fs.ErrNotExist},
		"that is a directory":            {directory, ErrNotRunFile},
		"that is empty":                  {write("empty", nil), ErrNotRunFile},
		"that is text":                   {write("text", []byte(strings.Repeat("not a database\n", 400))), ErrNotRunFile},
		"that is of a later version":     {write("newer", newer), ErrVersion},
		"that was cut to its first page": {write("cut", sealed[:4096]), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(ctx, c.path)
			wantError(t, err, c.want)
			_, err = Verify(ctx, c.path, testHooks)
			wantError(t, err, c.want)
			_, err = Resume(ctx, c.path)
			wantError(t, err, c.want)
		})
	}
	entries, err := os.ReadDir(directory)
	if err != nil || len(entries) != 4 {
		t.Errorf("refusing left something behind: %v, %v", entries, err)
	}
}

func TestAnUnsealedFileCanBeReadButNotVerified(t *testing.T) {
	ctx := t.Context()
	w, path := newRun(t, 2)
	if err := runInstance(ctx, w, instanceID(0)); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"while it is written", "after its writer has gone"} {
		t.Run(state, func(t *testing.T) {
			_, err := Verify(ctx, path, testHooks)
			wantError(t, err, ErrUnsealed)
			f, err := Open(ctx, path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			counts, err := f.Counts(ctx)
			if err != nil || counts.Records != 1 || counts.Instances != 2 {
				t.Errorf("counts are %+v, %v", counts, err)
			}
		})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCreateRefusesWhatItWouldSpoil(t *testing.T) {
	ctx := t.Context()
	w, path := newRun(t, 1)
	_, err := Create(ctx, path, bytes.NewReader(testManifest(t, 1)), Meta{})
	wantError(t, err, ErrLocked)
	_, err = Resume(ctx, path)
	wantError(t, err, ErrLocked)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Create(ctx, path, bytes.NewReader(testManifest(t, 1)), Meta{})
	wantError(t, err, fs.ErrExist)
}

func TestAManifestIsRefusedAndLeavesNothing(t *testing.T) {
	good := string(testManifest(t, 2))
	rows := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ manifest, want string }{
		"that is empty":             {"", "empty"},
		"that is no JSON":           {"hello\n", "line 1"},
		"of another format":         {`{"format":"litmus-manifest/2"}` + "\n", "line 1"},
		"with an instance twice":    {rows[0] + rows[1] + rows[1], "line 3"},
		"with fewer rows than said": {rows[0] + rows[1], "1 rows"},
		"with more rows than said":  {good + strings.ReplaceAll(rows[1], "case-000", "case-009"), "3 rows"},
		"without a last newline":    {strings.TrimSuffix(good, "\n"), "line 3"},
		"with a row without an id":  {rows[0] + `{"mutation_hash":"` + digest.Sum(nil).String() + "\"}\n", "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.litmus")
			_, err := Create(t.Context(), path, strings.NewReader(c.manifest), Meta{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 0 {
				t.Errorf("something is left behind: %v, %v", entries, err)
			}
		})
	}
}

// A path is a path and an id is an id, whatever they look like to SQL or a URI.
func TestHostileNamesAreOnlyNames(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a'b;c?mode=memory&x=%41#d é.litmus")
	manifest := strings.Replace(string(testManifest(t, 1)), instanceID(0), `x'); DROP TABLE record; --/plain/s1`, 1)
	w, err := Create(ctx, path, strings.NewReader(manifest), Meta{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := runInstance(ctx, w, `x'); DROP TABLE record; --/plain/s1`); err != nil {
		t.Fatal(err)
	}
	for range w.Records(ctx, Filter{Label: `' OR 1=1 --`}, Page{After: FirstPage}) {
		t.Error("a filter was taken for SQL")
	}
	if _, err := w.Seal(ctx, SealOptions{}); err != nil {
		t.Fatal(err)
	}
	wantNoFindings(t, path)
}
