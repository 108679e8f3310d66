package mutation

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/inputerror"
)

// must fails the test on the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// office returns a suite directory and its tree "office".
func office(t *testing.T) (dir, tree string) {
	dir = sample().write(t)
	return dir, filepath.Join(dir, "fixtures", "office")
}

func TestATreeIsReadWithModesAsVersionControlKeepsThem(t *testing.T) {
	dir, tree := office(t)
	must(t,
		os.Chmod(filepath.Join(tree, "usr/local/bin/run"), 0o740),
		os.Chmod(filepath.Join(tree, "etc/app.conf"), 0o600),
		os.Chmod(filepath.Join(tree, "srv/notes.txt"), 0o664),
		os.Mkdir(filepath.Join(tree, "var"), 0o700),
		os.Symlink("../etc/app.conf", filepath.Join(tree, "srv/link")),
		os.WriteFile(filepath.Join(tree, "srv/a\xff\n\\b"), []byte{0, 0xff}, 0o644),
	)
	trees, err := readTrees(dir, "fixtures")
	must(t, err)
	var got []string
	for _, e := range trees["office"].Entries {
		got = append(got, strings.Join([]string{e.Type, e.Mode, e.Path, e.Target, base64.StdEncoding.EncodeToString(e.Content)}, " "))
	}
	want := []string{
		`file 0644 etc/app.conf  YXVkaXQ9b24K`,
		`file 0644 srv/a\xff\x0a\\b  AP8=`,
		`symlink  srv/link ../etc/app.conf `,
		`file 0644 srv/notes.txt  Y2FsbCB0aGUgbGFuZGxvcmQK`,
		`file 0755 usr/local/bin/run  IyEvYmluL3NoCg==`,
		`dir 0755 var  `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	must(t, trees["office"].verify())
}

func TestATreesHashDependsOnContentNotOnModesTimesOrOrder(t *testing.T) {
	dir, tree := office(t)
	before, err := readTrees(dir, "fixtures")
	must(t, err)
	notes := filepath.Join(tree, "srv/notes.txt")
	content, err := os.ReadFile(notes)
	must(t, err, os.Remove(notes), os.WriteFile(notes, content, 0o600))
	after, err := readTrees(dir, "fixtures")
	must(t, err)
	if before["office"].Hash != after["office"].Hash {
		t.Error("the same files have another hash")
	}
	must(t, os.WriteFile(notes, append(content, '!'), 0o600))
	changed, err := readTrees(dir, "fixtures")
	must(t, err)
	if before["office"].Hash == changed["office"].Hash {
		t.Error("other content has the same hash")
	}
}

// benchflow#411 and agent-eval-harness#203: staging follows links of the host, or
// one into the gold answer of the case beside it.
func TestLinksInATreeAreNeverFollowed(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("the host's secret"), 0o600))
	dir, tree := office(t)
	must(t,
		os.Symlink(secret, filepath.Join(tree, "srv/secret")),
		os.Symlink("../../empty/srv", filepath.Join(tree, "srv/sibling")),
		os.Symlink("/proc/self", filepath.Join(tree, "srv/self")),
		os.Symlink(".", filepath.Join(tree, "srv/loop")),
	)
	trees, err := readTrees(dir, "fixtures")
	must(t, err)
	links := map[string]string{}
	for _, e := range trees["office"].Entries {
		if bytes.Contains(e.Content, []byte("secret")) {
			t.Errorf("%s has content from behind a link", e.Path)
		}
		if e.Type == SymlinkEntry {
			links[e.Path] = e.Target
		}
	}
	if len(links) != 4 || links["srv/secret"] != secret || links["srv/self"] != "/proc/self" {
		t.Errorf("links: %v", links)
	}
}

func TestATreeRefusesWhatItCanNotHold(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(fixtures string) error
		want  string
	}{
		{"a FIFO, without waiting for its writer", func(dir string) error { return unix.Mkfifo(dir+"/office/srv/pipe", 0o600) },
			"fixtures/office/srv/pipe: it is a device, a FIFO or a socket"},
		{"a link in place of a tree", func(dir string) error { return os.Symlink("office", dir+"/copy") },
			"fixtures/copy: it is not a directory"},
		{"a file beside the trees", func(dir string) error { return os.WriteFile(dir+"/README", nil, 0o600) },
			"fixtures/README: it is not a directory"},
		{"a directory that is the box's own", func(dir string) error { return os.Mkdir(dir+"/office/proc", 0o700) },
			"fixtures/office/proc: /proc belongs to the box itself"},
		{"a tree with a name that is no text", func(dir string) error { return os.Mkdir(dir+"/a\xff", 0o700) },
			`fixtures/a\xff: "a\xff" can't be the name of a tree: it is not valid UTF-8`},
		{"more than fits", func(dir string) error { return sparse(dir+"/office/srv/big", maxTreeBytes+1) },
			"fixtures/office/srv/big: the fixtures of a suite hold more than 67108864 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := sample().write(t)
			must(t, tt.plant(filepath.Join(dir, "fixtures")))
			_, err := readTrees(dir, "fixtures")
			var bad *inputerror.Error
			if !errors.As(err, &bad) {
				t.Fatalf("readTrees = %v, want an *inputerror.Error", err)
			}
			if got := strings.ReplaceAll(err.Error(), dir+"/", ""); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// sparse makes a file of zeros that takes no room.
func sparse(name string, size int64) error {
	return errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, size))
}

func TestFixturesOutsideOfTheSuiteAreNotRead(t *testing.T) {
	_, foreign := office(t)
	dir := sample().write(t)
	must(t, os.RemoveAll(filepath.Join(dir, "fixtures")), os.Symlink(filepath.Dir(foreign), filepath.Join(dir, "fixtures")))
	if trees, err := readTrees(dir, "fixtures"); err == nil {
		t.Errorf("read through a link: %d trees", len(trees))
	}
}
