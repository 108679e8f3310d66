package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/treehash"
)

// needRoot ends a test that mounts things.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Getenv("LITMUS_SKIP_SANDBOX") == "1" {
		t.Skip("LITMUS_SKIP_SANDBOX is 1")
	}
	if os.Geteuid() != 0 {
		t.Fatal("needs root; set LITMUS_SKIP_SANDBOX=1 to leave it out")
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// layered is an overlay over a small tree, with its layers at hand.
type layered struct {
	merged string
	layers *layout
}

func newLayered(t *testing.T) layered {
	t.Helper()
	needRoot(t)
	image := t.TempDir()
	at := func(name string) string { return filepath.Join(image, name) }
	must(t,
		os.Chmod(image, 0o755),
		os.MkdirAll(at("etc/app"), 0o755), os.MkdirAll(at("srv/data/deep"), 0o755),
		os.WriteFile(at("etc/passwd"), []byte("root"), 0o644),
		os.WriteFile(at("etc/app/conf"), []byte("a=1"), 0o644),
		os.WriteFile(at("srv/data/one"), []byte("1"), 0o644),
		os.WriteFile(at("srv/data/deep/two"), []byte("2"), 0o644),
		os.WriteFile(at("srv/data-x"), []byte("x"), 0o644),
		os.Symlink("passwd", at("etc/link")))
	l, err := newLayout(t.TempDir(), []string{image})
	must(t, err)
	t.Cleanup(func() { must(t, l.remove(t.Context())) })
	must(t, l.mountStaging(), l.finishStaging(t.Context(), Limits{Writable: 64 << 20, Inodes: 100000}))
	return layered{l.rootfs(), l}
}

func (l layered) changes(t *testing.T) changes {
	t.Helper()
	must(t, l.layers.mountBefore())
	found, err := l.layers.changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestChangesAreWhatDiffersAndNothingElse(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(at func(string) string) error
		want []string
	}{
		{"nothing at all", func(at func(string) string) error { return nil }, nil},
		{"reading", func(at func(string) string) error { _, err := os.ReadFile(at("etc/passwd")); return err }, nil},
		{"a file opened for writing and left alone", func(at func(string) string) error {
			f, err := os.OpenFile(at("etc/passwd"), os.O_RDWR, 0)
			return errors.Join(err, f.Close())
		}, nil},
		{"a file written with what it had", func(at func(string) string) error { return os.WriteFile(at("etc/passwd"), []byte("root"), 0o644) }, nil},
		{"a mode changed and changed back", func(at func(string) string) error {
			return errors.Join(os.Chmod(at("etc/passwd"), 0o600), os.Chmod(at("etc/passwd"), 0o644))
		}, nil},
		{"a new time", func(at func(string) string) error {
			return unix.Utimes(at("etc/passwd"), []unix.Timeval{{Sec: 1}, {Sec: 1}})
		}, nil},
		{"something made and removed again", func(at func(string) string) error {
			return errors.Join(os.Mkdir(at("etc/new"), 0o755), os.WriteFile(at("etc/new/f"), nil, 0o644), os.RemoveAll(at("etc/new")))
		}, nil},
		{"content", func(at func(string) string) error { return os.WriteFile(at("etc/passwd"), []byte("r00t"), 0o644) },
			[]string{"changed file /etc/passwd"}},
		{"mode", func(at func(string) string) error { return os.Chmod(at("etc/app"), 0o700) }, []string{"changed dir /etc/app"}},
		{"the root's mode", func(at func(string) string) error { return os.Chmod(at(""), 0o700) }, []string{"changed dir /"}},
		{"owner", func(at func(string) string) error { return os.Chown(at("etc/app/conf"), 5, 5) }, []string{"changed file /etc/app/conf"}},
		{"an attribute", func(at func(string) string) error { return unix.Setxattr(at("etc/app"), "user.a", []byte("b"), 0) },
			[]string{"changed dir /etc/app"}},
		{"a file deleted", func(at func(string) string) error { return os.Remove(at("etc/app/conf")) }, []string{"deleted  /etc/app/conf"}},
		{"a directory deleted with all in it", func(at func(string) string) error { return os.RemoveAll(at("srv/data")) },
			[]string{"deleted  /srv/data", "deleted  /srv/data/deep", "deleted  /srv/data/deep/two", "deleted  /srv/data/one"}},
		{"a directory deleted and made again", func(at func(string) string) error {
			return errors.Join(os.RemoveAll(at("srv/data")), os.Mkdir(at("srv/data"), 0o755), os.WriteFile(at("srv/data/one"), []byte("1"), 0o644), os.WriteFile(at("srv/data/z"), nil, 0o644))
		}, []string{"deleted  /srv/data/deep", "deleted  /srv/data/deep/two", "added file /srv/data/z"}},
		{"a file in place of a directory", func(at func(string) string) error {
			return errors.Join(os.RemoveAll(at("srv/data")), os.WriteFile(at("srv/data"), nil, 0o644))
		}, []string{"changed file /srv/data", "deleted  /srv/data/deep", "deleted  /srv/data/deep/two", "deleted  /srv/data/one"}},
		{"a directory in place of a file", func(at func(string) string) error {
			return errors.Join(os.Remove(at("etc/passwd")), os.MkdirAll(at("etc/passwd/a"), 0o755))
		}, []string{"changed dir /etc/passwd", "added dir /etc/passwd/a"}},
		{"a link in place of a file", func(at func(string) string) error {
			return errors.Join(os.Remove(at("etc/passwd")), os.Symlink("/dev/null", at("etc/passwd")))
		}, []string{"changed symlink /etc/passwd"}},
		{"a rename", func(at func(string) string) error { return os.Rename(at("etc/passwd"), at("etc/passwd~")) },
			[]string{"deleted  /etc/passwd", "added file /etc/passwd~"}},
		{"what is neither file nor directory", func(at func(string) string) error {
			return errors.Join(unix.Mkfifo(at("fifo"), 0o600), unix.Mknod(at("socket"), unix.S_IFSOCK|0o600, 0))
		}, []string{"added fifo /fifo", "added socket /socket"}},
		{"names that are no text", func(at func(string) string) error { return os.WriteFile(at("a\n\xff\\"), nil, 0o644) },
			[]string{`added file /a\x0a\xff\\`}},
		{"a neighbour that sorts between a directory and what is in it", func(at func(string) string) error {
			return errors.Join(os.WriteFile(at("srv/data/one"), []byte("!"), 0o644), os.WriteFile(at("srv/data-x"), []byte("!"), 0o644), os.Chmod(at("srv/data"), 0o700))
		}, []string{"changed dir /srv/data", "changed file /srv/data/one", "changed file /srv/data-x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLayered(t)
			must(t, tt.do(func(name string) string { return filepath.Join(l.merged, name) }))
			found := l.changes(t)
			var got []string
			for _, c := range found.list {
				got = append(got, fmt.Sprintf("%s %s %s", c.Kind, c.Type, c.Path))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			if nothing := treehash.NewLister().Sum(); (found.root == nothing) != (len(tt.want) == 0) {
				t.Errorf("root %s", found.root)
			}
			if found.total != len(tt.want) || found.truncated {
				t.Errorf("total %d, truncated %v", found.total, found.truncated)
			}
		})
	}
}

func TestTheRootDependsOnTheEndNotOnTheWayThere(t *testing.T) {
	a, b := newLayered(t), newLayered(t)
	must(t, os.RemoveAll(filepath.Join(a.merged, "srv/data")), os.MkdirAll(filepath.Join(a.merged, "srv/data"), 0o755))
	must(t, os.Remove(filepath.Join(b.merged, "srv/data/one")), os.RemoveAll(filepath.Join(b.merged, "srv/data/deep")))
	if left, right := a.changes(t), b.changes(t); left.root != right.root || left.total != 3 {
		t.Errorf("an opaque directory and whiteouts differ: %+v and %+v", left.list, right.list)
	}
}

func TestManyAndDeepChangesAreCountedButNotAllListed(t *testing.T) {
	l := newLayered(t)
	for i := range MaxChanges + 10 {
		must(t, os.WriteFile(filepath.Join(l.merged, fmt.Sprintf("f%05d", i)), nil, 0o644))
	}
	found := l.changes(t)
	if len(found.list) != MaxChanges || found.total != MaxChanges+10 || !found.truncated {
		t.Errorf("listed %d of %d, truncated %v", len(found.list), found.total, found.truncated)
	}
}

func TestAPathThatNobodyCanNameIsCounted(t *testing.T) {
	l := newLayered(t)
	const depth = 1000
	name := strings.Repeat("n", 200)
	fd, err := unix.Open(l.merged, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	must(t, err)
	for range depth {
		must(t, unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		must(t, err, unix.Close(fd))
		fd = next
	}
	must(t, unix.Close(fd), os.WriteFile(filepath.Join(l.merged, "z"), nil, 0o644))
	found := l.changes(t)
	if found.total != depth+1 || !found.truncated || found.list[len(found.list)-1].Path != "/z" {
		t.Errorf("listed %d of %d, truncated %v", len(found.list), found.total, found.truncated)
	}
}
