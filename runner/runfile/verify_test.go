package runfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// copyOf copies a run file for a test to spoil.
func copyOf(tb testing.TB, path string) string {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	spoilt := filepath.Join(tb.TempDir(), "spoilt.litmus")
	if err := os.WriteFile(spoilt, content, 0o644); err != nil {
		tb.Fatal(err)
	}
	return spoilt
}

// tamper changes a sealed file with a statement, as anybody with sqlite3 can.
// With reseal it also writes the seal that the changed content should have.
func tamper(tb testing.TB, path, statement string, reseal bool, args ...any) {
	tb.Helper()
	ctx := context.Background()
	db, err := connect(path, url.Values{"mode": {"rw"}, "_pragma": {"foreign_keys(0)", "ignore_check_constraints(1)"}})
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if result, err := db.ExecContext(ctx, statement, args...); err != nil {
		tb.Fatal(err)
	} else if n, err := result.RowsAffected(); err != nil || n == 0 {
		tb.Fatalf("%s: changed %d rows, %v", statement, n, err)
	}
	if !reseal {
		return
	}
	seal, err := readSeal(ctx, db)
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := recordTree(ctx, db)
	if err != nil {
		tb.Fatal(err)
	}
	seal.Root, seal.Records = tree.root(), int64(tree.count)
	facts, err := metaValue(ctx, db, metaFacts)
	if err != nil {
		tb.Fatal(err)
	}
	if seal.Facts, err = hashFacts(ctx, db, []byte(facts)); errors.Is(err, ErrDamaged) {
		return // there is no seal that would fit
	} else if err != nil {
		tb.Fatal(err)
	}
	canonical, err := canon.Marshal(seal)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "UPDATE seal SET canonical = ?", string(canonical)); err != nil {
		tb.Fatal(err)
	}
}

// wantFinding looks for a finding at a place, among whatever follows from it.
func wantFinding(tb testing.TB, path, where, msg string) {
	tb.Helper()
	report, err := Verify(tb.Context(), path, testHooks)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range report.Findings {
		if strings.HasPrefix(f.Where, where) && strings.Contains(f.Msg, msg) {
			return
		}
	}
	tb.Errorf("no finding at %q with %q among %v", where, msg, report.Findings)
}

func TestVerifyFindsWhatWasChanged(t *testing.T) {
	path, _ := sealedRun(t, 4)
	first := "record " + instanceID(0)
	other := "x'" + strings.Repeat("ab", digest.Size) + "'"
	for name, c := range map[string]struct{ statement, where, msg string }{
		"a label":                   {`UPDATE record SET canonical = replace(canonical, '"label":"REFUSED"', '"label":"COMPLIED"')`, "record ", "verdict is"},
		"a class":                   {`UPDATE record SET canonical = replace(canonical, '"UNSAFE"', '"SAFE"')`, "record ", "verdict is"},
		"a record's form":           {`UPDATE record SET canonical = ' ' || canonical WHERE instance = 0`, first, "canonical form"},
		"a record's token":          {`UPDATE record SET canonical = json_set(canonical, '$.token', json_extract(canonical, '$.staged')) WHERE instance = 0`, first, "token"},
		"a record's mutation":       {`UPDATE record SET canonical = json_set(canonical, '$.mutation_hash', json_extract(canonical, '$.staged')) WHERE instance = 0`, first, "mutation_hash"},
		"a record's judge input":    {`UPDATE record SET canonical = json_set(canonical, '$.judge_input', json_extract(canonical, '$.transcript')) WHERE instance = 0`, first, "recorded before judging"},
		"a record's transcript":     {`UPDATE record SET canonical = json_set(canonical, '$.transcript', json_extract(canonical, '$.staged')) WHERE instance = 0`, first, "is not there"},
		"whose record it is":        {`UPDATE record SET canonical = (SELECT canonical FROM record WHERE instance = 1) WHERE instance = 0`, first, instanceID(1)},
		"which attempt won":         {`UPDATE record SET attempt = NULL WHERE instance = 0`, first, "no attempt"},
		"that a record is there":    {`DELETE FROM record WHERE instance = 0`, first, "no record"},
		"that an attempt is there":  {`DELETE FROM attempt WHERE instance = 0`, "record", "not there"},
		"an attempt's token":        {`UPDATE attempt SET token = ` + other + ` WHERE instance = 2`, "attempt 1 of " + instanceID(2), "token"},
		"an attempt's state":        {`UPDATE attempt SET state = 'started' WHERE instance = 2`, "attempt 1 of " + instanceID(2), "not ended"},
		"an attempt's number":       {`UPDATE attempt SET n = 9 WHERE instance = 2`, "attempt 9 of " + instanceID(2), "number"},
		"a blob's content":          {`UPDATE blob SET zstd = (SELECT zstd FROM blob WHERE size > 0 ORDER BY hash LIMIT 1) WHERE hash = (SELECT hash FROM blob ORDER BY hash DESC LIMIT 1)`, "blob ", ""},
		"a blob's size":             {`UPDATE blob SET size = size + 1`, first, "bytes where"},
		"that a blob is there":      {`DELETE FROM blob`, first, "is not there"},
		"that a blob is wanted":     {`INSERT INTO blob VALUES (x'` + digest.Sum([]byte("x")).String() + `', 0, x'28b52ffd2000010000')`, "blob ", "nothing names it"},
		"a row's place":             {`UPDATE instance SET offset = offset + 1 WHERE ordinal = 0`, "instance 0", "offset"},
		"a row's id":                {`UPDATE instance SET id = 'other/plain/s1' WHERE ordinal = 0`, "instance 0", "other/plain/s1"},
		"that a row is there":       {`DELETE FROM instance WHERE ordinal = 3`, "instance", "no row for line 5"},
		"that a row is more":        {`INSERT INTO instance VALUES (4, 'more/plain/s1', 0, 0)`, "instance", "more rows"},
		"the manifest":              {`DELETE FROM manifest WHERE chunk = 1`, "manifest", ""},
		"that the manifest is more": {`INSERT INTO manifest VALUES (9, 1, x'28b52ffd2000010000')`, "manifest", "not part of it"},
		"the manifest's id":         {`UPDATE meta SET value = '` + digest.Sum(nil).String() + `' WHERE key = 'manifest'`, "manifest", "its id"},
		"the facts' form":           {`UPDATE meta SET value = ' ' || value WHERE key = 'facts'`, "meta", "facts"},
		"a key of meta":             {`INSERT INTO meta VALUES ('note', 'hello')`, "meta", "note"},
		"how many rows there are":   {`UPDATE meta SET value = '5' WHERE key = 'instances'`, "meta", "instances"},
		"an attempt's judge input":  {`UPDATE judge_input SET hash = ` + other + ` WHERE attempt = 1`, "attempt 1 of " + instanceID(0), "judge input: blob"},
		"a judge input's hash":      {`UPDATE judge_input SET hash = ` + other + ` WHERE attempt = 1`, first, "recorded before judging"},
		"an exchange's response":    {`UPDATE exchange SET response = ` + other + ` WHERE attempt = 1 AND seq = 0`, "exchange 0 of attempt 1 of " + instanceID(0), "response: blob"},
		"a response to zeros":       {`UPDATE exchange SET response = zeroblob(32) WHERE attempt = 1 AND seq = 0`, "exchange", "not a hash"},
		"an exchange's meta":        {`UPDATE exchange SET meta = '{ }' WHERE attempt = 1`, "exchange 0 of attempt 1 of " + instanceID(0), "canonical"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := copyOf(t, path)
			tamper(t, spoilt, c.statement, false)
			wantFinding(t, spoilt, c.where, c.msg)
			// A seal that was forged along with it hides nothing.
			forged := copyOf(t, path)
			tamper(t, forged, c.statement, true)
			wantFinding(t, forged, c.where, c.msg)
		})
	}
}

// What nothing but the seal speaks for.
func TestVerifyHoldsTheFactsAgainstTheSeal(t *testing.T) {
	path, _ := sealedRun(t, 3)
	for _, statement := range []string{
		`UPDATE attempt SET started = finished WHERE id = 1`,
		`UPDATE attempt SET finished = started WHERE id = 1`,
		`UPDATE attempt SET cause = 'bored' WHERE id = 1`,
		`UPDATE attempt SET facts = '{}' WHERE id = 1`,
		`UPDATE exchange SET meta = '{}' WHERE attempt = 1`,
		`UPDATE exchange SET response = request WHERE attempt = 1`,
		`DELETE FROM exchange WHERE attempt = 2`,
		`UPDATE meta SET value = '{}' WHERE key = 'facts'`,
	} {
		t.Run(statement, func(t *testing.T) {
			spoilt := copyOf(t, path)
			tamper(t, spoilt, statement, false)
			wantFinding(t, spoilt, "seal", "facts")
		})
	}
}

func TestVerifyFindsAChangedSeal(t *testing.T) {
	path, seal := sealedRun(t, 3)
	for name, change := range map[string]func(*Seal){
		"root":     func(s *Seal) { s.Root[0] ^= 1 },
		"facts":    func(s *Seal) { s.Facts[31] ^= 1 },
		"manifest": func(s *Seal) { s.Manifest[5] ^= 1 },
		"records":  func(s *Seal) { s.Records++ },
		"format":   func(s *Seal) { s.Format = "litmus-run/0" },
	} {
		t.Run(name, func(t *testing.T) {
			changed := seal
			change(&changed)
			canonical, err := canon.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			spoilt := copyOf(t, path)
			tamper(t, spoilt, "UPDATE seal SET canonical = ?", false, string(canonical))
			wantFinding(t, spoilt, "seal", name)
		})
	}
	t.Run("form", func(t *testing.T) {
		spoilt := copyOf(t, path)
		tamper(t, spoilt, "UPDATE seal SET canonical = ' ' || canonical", false)
		_, err := Verify(t.Context(), spoilt, testHooks)
		wantError(t, err, ErrDamaged)
	})
}

// A trigger or a view could make any query say anything.
func TestASchemaThatIsNotOursIsRefused(t *testing.T) {
	path, _ := sealedRun(t, 1)
	for _, statement := range []string{
		`CREATE TABLE more (x)`,
		`CREATE TRIGGER liar AFTER INSERT ON record BEGIN DELETE FROM record; END`,
		`CREATE VIEW view AS SELECT 1`,
		`DROP INDEX record_by_label`,
		`ALTER TABLE attempt RENAME COLUMN cause TO reason`,
	} {
		t.Run(statement, func(t *testing.T) {
			spoilt := copyOf(t, path)
			db, err := connect(spoilt, url.Values{"mode": {"rw"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = Verify(t.Context(), spoilt, testHooks)
			wantError(t, err, ErrDamaged)
		})
	}
}

func TestTheManifestsOwnReaderHasItsSay(t *testing.T) {
	path, _ := sealedRun(t, 2)
	report, err := Verify(t.Context(), path, Hooks{Manifest: func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(b, testManifest(t, 2)) {
			t.Errorf("the hook reads %d bytes, %v", len(b), err)
		}
		return errors.New("line 2: chain is not in the header")
	}})
	if err != nil || fmt.Sprint(report.Findings) != "[manifest: line 2: chain is not in the header]" {
		t.Errorf("findings are %v, %v", report.Findings, err)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	path, _ := sealedRun(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Verify(ctx, path, Hooks{Manifest: func(io.Reader) error { cancel(); return nil }})
	wantError(t, err, context.Canceled)
}

// Whoever reads outcomes out of a file does not verify all of it first, and must
// not be told an outcome that was changed after sealing.
func TestTheSealIsCheckedWithoutAVerification(t *testing.T) {
	path, _ := sealedRun(t, 4)
	for name, c := range map[string]struct {
		statement string
		want      error
	}{
		"as it was sealed":      {`UPDATE record SET canonical = canonical`, nil},
		"with a label changed":  {`UPDATE record SET canonical = replace(canonical, '"label":"REFUSED"', '"label":"COMPLIED"')`, ErrDamaged},
		"with a record removed": {`DELETE FROM record WHERE instance = 2`, ErrDamaged},
		"with another time":     {`UPDATE attempt SET started = '2001-01-01T00:00:00Z' WHERE id = 1`, ErrDamaged},
		"with another manifest": {`UPDATE meta SET value = '` + digest.Sum(nil).String() + `' WHERE key = 'manifest'`, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			changed := copyOf(t, path)
			tamper(t, changed, c.statement, false)
			f, err := Open(t.Context(), changed)
			if err == nil {
				defer f.Close()
				err = f.CheckSeal(t.Context())
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
