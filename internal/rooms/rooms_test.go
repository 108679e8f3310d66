// Package rooms holds one test: the table of who may import whom.
package rooms

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is the architecture: for each room, the rooms of this module that it
// may import, tests included. A trailing slash means the folder and all below.
//
// This table is a statement of policy. Do not add an edge to make a test
// green: what two leaves both need goes into internal/, and what joins two
// rooms goes into runner.
var allowed = map[string][]string{
	"cmd/litmus":          {"runner/", "mutation/importer", "sandbox/", "gate", "internal/"},
	"cmd/litmus-init":     {"internal/"},
	"runner":              {"mutation", "sandbox/", "judge", "gate", "runner/", "internal/"},
	"runner/gateway":      {"internal/"},
	"runner/runfile":      {"internal/"},
	"mutation":            {"internal/"},
	"mutation/importer":   {"mutation", "internal/"},
	"sandbox":             {"sandbox/", "internal/"},
	"sandbox/sandboxtest": {"sandbox", "internal/"},
	"judge":               {"internal/"},
	"gate":                {"internal/"},
	"internal/":           {"internal/"},
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("only %d packages found: the listing is broken", len(packages))
	}
	for _, p := range packages {
		room := strings.TrimPrefix(p.ImportPath, "litmus/")
		edges, ok := edgesOf(room)
		if !ok {
			t.Errorf("%s is in no room: the top level is fixed, and so is this table", p.ImportPath)
			continue
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			target, ours := strings.CutPrefix(imported, "litmus/")
			if !ours || target == room {
				continue
			}
			if !permits(edges, target) {
				t.Errorf("%s imports %s, which the table does not allow", room, target)
			}
		}
	}
}

func edgesOf(room string) ([]string, bool) {
	if edges, ok := allowed[room]; ok {
		return edges, true
	}
	for name, edges := range allowed {
		if strings.HasSuffix(name, "/") && strings.HasPrefix(room, name) {
			return edges, true
		}
	}
	return nil, false
}

func permits(edges []string, target string) bool {
	return slices.ContainsFunc(edges, func(edge string) bool {
		folder, below := strings.CutSuffix(edge, "/")
		return folder == target || below && strings.HasPrefix(target, edge)
	})
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "litmus/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
