package rooms

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestEveryDirectDependencyHasALineInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	direct := 0
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct++
		if !strings.Contains(string(page), "| `"+r.Path+"` |") {
			t.Errorf("docs/dependencies.md has no line for %s", r.Path)
		}
	}
	if direct < 10 {
		t.Errorf("only %d direct dependencies found: the reading is broken", direct)
	}
}
