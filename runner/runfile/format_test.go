package runfile

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"litmus/internal/canon"
)

var update = flag.Bool("update", false, "write testdata/v1 anew")

// golden is where files of format version 1 are kept for ever.
const golden = "testdata/v1"

// spoilt are the damaged siblings of the sealed file, and what is wrong with each.
var spoilt = []struct{ name, statement, where string }{
	{"label-changed.litmus", `UPDATE record SET canonical = replace(replace(canonical, '"COMPLIED"', '"REFUSED"'), '"UNSAFE"', '"SAFE"')`, "record "},
	{"transcript-changed.litmus", `UPDATE blob SET zstd = CAST(zstd || x'00' AS BLOB) WHERE hash = unhex((SELECT canonical ->> '$.transcript' FROM record LIMIT 1))`, "record "},
	{"manifest-changed.litmus", `UPDATE manifest SET size = size - 1`, "manifest"},
	{"seal-changed.litmus", `UPDATE seal SET canonical = replace(canonical, '"root":"', '"root":"0')`, ""},
}

// TestFilesOfVersion1 reads what an earlier program wrote. It may not be made
// green with -update: that is for a new version, in a directory of its own.
func TestFilesOfVersion1(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	sealed := filepath.Join(golden, "sealed.litmus")
	want, err := os.ReadFile(filepath.Join(golden, "seal.json"))
	if err != nil {
		t.Fatal(err)
	}
	report := wantNoFindings(t, sealed)
	got, err := canon.Marshal(report.Seal)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("seal is %s, %v, want %s", got, err, want)
	}
	if report.Rejudged != 3 || report.Instances != 4 {
		t.Errorf("report is %+v", report)
	}
	for _, s := range spoilt {
		t.Run(s.name, func(t *testing.T) {
			path := filepath.Join(golden, s.name)
			if s.where != "" {
				wantFinding(t, path, s.where, "")
				return
			}
			_, err := Verify(t.Context(), path, testHooks)
			wantError(t, err, ErrDamaged)
		})
	}
	t.Run("a run that was killed before its seal is refused by verify and resumed", func(t *testing.T) {
		path := copyOf(t, filepath.Join(golden, "unsealed.litmus"))
		_, err := Verify(t.Context(), path, testHooks)
		wantError(t, err, ErrUnsealed)
		w, err := Resume(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for _, i := range []int{1, 2} {
			if err := runInstance(t.Context(), w, instanceID(i)); err != nil {
				t.Fatal(err)
			}
		}
		seal, err := w.Seal(t.Context(), SealOptions{Selection: func(ordinal int64) bool { return ordinal != 3 }})
		if err != nil || seal.Root != report.Seal.Root {
			t.Errorf("seal is %+v, %v, want the root %s", seal, err, report.Seal.Root)
		}
	})
	if entries, err := os.ReadDir(golden); err != nil || len(entries) != len(spoilt)+3 {
		t.Errorf("%s is not as it was: %v, %v", golden, entries, err)
	}
}

func writeGolden(t *testing.T) {
	t.Helper()
	sealed, _ := smallSealedRun(t)
	if err := os.RemoveAll(golden); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(golden, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(golden, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sealed.litmus", sealed)
	for _, s := range spoilt {
		write(s.name, sealed)
		tamper(t, filepath.Join(golden, s.name), s.statement, false)
	}
	seal, err := canon.Marshal(wantNoFindings(t, filepath.Join(golden, "sealed.litmus")).Seal)
	if err != nil {
		t.Fatal(err)
	}
	write("seal.json", seal)
	write("unsealed.litmus", unsealedRun(t))
}

// unsealedRun is the same run, ended before its second instance was committed.
func unsealedRun(t *testing.T) []byte {
	t.Helper()
	ctx := context.Background()
	manifest, err := makeManifest(4, "rubric")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.litmus")
	w, err := Create(ctx, path, bytes.NewReader(manifest), Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := runInstance(ctx, w, instanceID(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.BeginAttempt(ctx, instanceID(1), instant); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
