package runfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// contentOf is all that a run file says, without how it is laid out on pages
// and compressed.
func contentOf(ctx context.Context, path string) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, f.Manifest(ctx)); err != nil {
		return nil, err
	}
	for _, query := range []string{
		"SELECT * FROM meta ORDER BY key",
		"SELECT * FROM instance ORDER BY ordinal",
		"SELECT * FROM attempt ORDER BY id",
		"SELECT * FROM exchange ORDER BY attempt, seq",
		"SELECT * FROM judge_input ORDER BY attempt",
		"SELECT * FROM record ORDER BY instance",
		"SELECT * FROM seal",
		"SELECT hash, size FROM blob ORDER BY hash",
	} {
		rows, err := f.db.QueryContext(ctx, query)
		if err != nil {
			return nil, err
		}
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				return nil, err
			}
			for _, value := range values {
				fmt.Fprintf(&b, "%T %v\n", *value.(*any), *value.(*any))
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// checkDamage verifies changed bytes: there must be a finding or a typed error,
// or nothing may have been lost by the change.
func checkDamage(t *testing.T, directory string, damaged, want []byte) {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(directory, "damaged.litmus")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	report, err := Verify(ctx, path, testHooks)
	switch {
	case errors.Is(err, ErrNotRunFile), errors.Is(err, ErrVersion), errors.Is(err, ErrDamaged), errors.Is(err, ErrUnsealed):
	case err != nil:
		t.Errorf("an error without a type: %v", err)
	case len(report.Findings) == 0:
		got, err := contentOf(ctx, path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("nothing found, but the content is another: %v", err)
		}
	}
}

// smallSealedRun is a sealed file of few pages, and its content.
func smallSealedRun(tb testing.TB) (sealed, content []byte) {
	tb.Helper()
	manifest, err := makeManifest(4, "rubric")
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "run.litmus")
	w, err := Create(tb.Context(), path, bytes.NewReader(manifest), Meta{})
	if err != nil {
		tb.Fatal(err)
	}
	defer w.Close()
	for i := range 3 {
		if err := runInstance(tb.Context(), w, instanceID(i)); err != nil {
			tb.Fatal(err)
		}
	}
	if _, err := w.Seal(tb.Context(), SealOptions{Selection: func(ordinal int64) bool { return ordinal != 3 }}); err != nil {
		tb.Fatal(err)
	}
	if content, err = contentOf(tb.Context(), path); err != nil {
		tb.Fatal(err)
	}
	if sealed, err = os.ReadFile(path); err != nil {
		tb.Fatal(err)
	}
	return sealed, content
}

func TestADamagedFileIsFoundOutOrLostNothing(t *testing.T) {
	sealed, content := smallSealedRun(t)
	rng := rand.New(rand.NewPCG(5, 6))
	directory := t.TempDir()
	for range 60 {
		damaged := bytes.Clone(sealed)
		where := rng.IntN(len(damaged))
		damaged[where] ^= byte(1 + rng.IntN(255))
		checkDamage(t, directory, damaged, content)
	}
	// The header of the file, every byte of it that has a meaning.
	for where := range 72 {
		damaged := bytes.Clone(sealed)
		damaged[where] ^= 0x41
		checkDamage(t, directory, damaged, content)
	}
	for range 20 {
		checkDamage(t, directory, sealed[:rng.IntN(len(sealed))], content)
	}
}

func FuzzVerifyOfADamagedFile(f *testing.F) {
	sealed, content := smallSealedRun(f)
	f.Add(uint32(0), []byte("SQLite"))
	f.Add(uint32(18), []byte{2, 2})
	f.Add(uint32(100), []byte{5})
	f.Add(uint32(4096), []byte{0, 0, 0, 0, 0xff, 0xff})
	f.Add(uint32(len(sealed)-4), []byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, where uint32, patch []byte) {
		damaged := bytes.Clone(sealed)
		copy(damaged[int(where)%len(damaged):], patch)
		checkDamage(t, t.TempDir(), damaged, content)
	})
}
