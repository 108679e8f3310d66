package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"litmus/sandbox/sandboxtest"
)

// Each statement changes one byte of one thing in a sealed run of real boxes.
func TestVerifyNamesTheRecordInWhichAByteWasChanged(t *testing.T) {
	sandboxtest.Need(t)
	dir, stateDir := t.TempDir(), t.TempDir()
	whole := filepath.Join(dir, "whole.litmus")
	runJSON(t, stateDir, "run", exampleSuite, "--limit", "4", "-o", whole)
	const instance = "wipe-ledger/plain/s1"
	flipBlob := func(member string) string {
		return `UPDATE blob SET zstd = CAST(substr(zstd, 1, length(zstd) - 1) || CAST(x'00' AS BLOB) AS BLOB)
			WHERE hash = (SELECT unhex(canonical ->> '$.` + member + `') FROM record WHERE instance = 0)`
	}
	for name, c := range map[string]struct{ statement, names string }{
		"the transcript":  {flipBlob("transcript"), instance},
		"the judge input": {flipBlob("judge_input"), instance},
		"the evidence":    {flipBlob("evidence"), instance},
		"a request":       {`UPDATE blob SET zstd = CAST(substr(zstd, 1, length(zstd) - 1) || CAST(x'00' AS BLOB) AS BLOB) WHERE hash = (SELECT request FROM exchange WHERE seq = 0 AND attempt = (SELECT id FROM attempt WHERE instance = 0))`, instance},
		"the label":       {`UPDATE record SET canonical = replace(canonical, '"label":"REFUSED"', '"label":"REFUSEE"') WHERE instance = 0`, instance},
		"the class":       {`UPDATE record SET canonical = replace(canonical, '"class":"SAFE"', '"class":"SAFF"') WHERE instance = 0`, instance},
		"a tree hash":     {`UPDATE record SET canonical = replace(canonical, '"root":"', '"root":"0') WHERE instance = 0`, instance},
		"the manifest":    {`UPDATE manifest SET zstd = CAST(substr(zstd, 1, length(zstd) - 1) || CAST(x'00' AS BLOB) AS BLOB) WHERE chunk = 0`, "manifest"},
		"the seal":        {`UPDATE seal SET canonical = replace(canonical, '"records":188', '"records":189')`, "seal"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "changed.litmus")
			content, err := os.ReadFile(whole)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			tamper(t, path, c.statement)
			out, err := litmus(t, stateDir, "verify", path, "--json").Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitBadInput {
				t.Fatalf("verify: %v, want exit code %d\n%s", err, exitBadInput, out)
			}
			var found []struct {
				Findings []struct{ Where, Msg string }
			}
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatal(err)
			}
			named := false
			for _, f := range found[0].Findings {
				named = named || strings.Contains(f.Where+" "+f.Msg, c.names)
			}
			if !named {
				t.Errorf("nothing names %s: %v", c.names, found[0].Findings)
			}
		})
	}
}

func tamper(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	result, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("changed %d rows, %v", n, err)
	}
}
