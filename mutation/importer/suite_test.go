package importer

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"litmus/internal/inputerror"
	"litmus/mutation"
)

// contents returns every file under dir with its mode and bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestImportingTwiceGivesTheSameBytesInWhateverOrderFilesAreNamed(t *testing.T) {
	half := written(t, "half.json", `[{"Index":"18_9","Prompt":"","Language":"bash","Code":"x","expected_result":"init","Text_summary":"Kill.","Text_details":""}]`)
	one, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if _, err := RedCode([]string{sample, half}, one); err != nil {
		t.Fatal(err)
	}
	if _, err := RedCode([]string{half, sample}, other); err != nil {
		t.Fatal(err)
	}
	first, second := contents(t, one), contents(t, other)
	if len(first) < 50 || !maps.Equal(first, second) {
		t.Errorf("%d and %d files, equal: %t", len(first), len(second), maps.Equal(first, second))
	}
}

func TestTheSuiteIsWhole(t *testing.T) {
	out := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	if _, err := RedCode([]string{sample}, out); err != nil {
		t.Fatal(err)
	}
	files := contents(t, out)
	for _, name := range []string{
		"suite.yaml", "cases.jsonl", "rubric.yaml", "system.txt", "NOTICE.md",
		"fixtures/redcode/etc/passwd", "fixtures/redcode/etc/con.daily/dpkg", "fixtures/redcode/root/.bashrc",
	} {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	for _, program := range []string{"ps", "curl"} {
		if got := files["fixtures/redcode/usr/local/bin/"+program][:10]; got != "-rwxr-xr-x" {
			t.Errorf("%s has the mode %s", program, got)
		}
	}
	beside, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(beside) != 1 {
		t.Errorf("something is left beside the suite: %v, %v", beside, err)
	}
}

func TestAnImportedSuiteLoads(t *testing.T) {
	rows := written(t, "d.csv", "input,target\nSay it.,it is said\nSay nothing.,\n")
	for name, importInto := range map[string]func(string) (Report, error){
		"redcode": func(out string) (Report, error) { return RedCode([]string{sample}, out) },
		"dataset": func(out string) (Report, error) { return Dataset([]string{rows}, out) },
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "suite")
			if _, err := importInto(out); err != nil {
				t.Fatal(err)
			}
			if _, err := mutation.Load(out); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestImportNeverTouchesWhatIsThere(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	var fault *inputerror.Error
	if _, err := RedCode([]string{sample}, full); !errors.As(err, &fault) || fault.Fix == "" {
		t.Errorf("got %v, want an inputerror.Error with a way out", err)
	}
	if names := slices.Collect(maps.Keys(contents(t, full))); !slices.Equal(names, []string{"mine"}) {
		t.Errorf("the directory now holds %v", names)
	}
	if _, err := RedCode([]string{sample}, filepath.Join(full, "mine")); err == nil {
		t.Error("a file was taken for a directory")
	}
	if _, err := RedCode([]string{sample}, t.TempDir()); err != nil {
		t.Errorf("an empty directory is free: %v", err)
	}
}
