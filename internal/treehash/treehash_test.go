package treehash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

// tmpfs mounts a fresh one, on which everything that an agent can build can be built.
func tmpfs(t *testing.T) string {
	t.Helper()
	if os.Getenv("LITMUS_SKIP_SANDBOX") == "1" {
		t.Skip("LITMUS_SKIP_SANDBOX is 1")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatalf("mounting a tmpfs: %v (root is needed; LITMUS_SKIP_SANDBOX=1 leaves this test out)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func hashOf(t *testing.T, dir string) digest.Hash {
	t.Helper()
	h, err := HashDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// buildZoo makes one of everything.
func buildZoo(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t,
		os.Mkdir(at("d"), 0o750),
		os.WriteFile(at("d/file"), []byte("hello\n"), 0o644),
		os.WriteFile(at("d-file"), nil, 0o600),
		os.Chmod(at("d-file"), 0o4711|os.ModeSetuid),
		os.Chown(at("d-file"), 1000, 1001),
		os.Symlink("/etc/passwd", at("link")),
		os.WriteFile(at("new\nline \xff"), []byte("x"), 0),
		unix.Mkfifo(at("fifo"), 0o600),
		unix.Mknod(at("socket"), unix.S_IFSOCK|0o600, 0),
		unix.Mknod(at("char"), unix.S_IFCHR|0o600, int(unix.Mkdev(5, 7))),
		unix.Mknod(at("block"), unix.S_IFBLK|0o600, int(unix.Mkdev(8, 1))),
		unix.Setxattr(at("d"), "user.note", []byte("n"), 0),
		unix.Setxattr(at("d"), "trusted.none", []byte("n"), 0),
	)
	sparse, err := os.Create(at("sparse"))
	must(t, err)
	_, err = sparse.WriteAt([]byte("far"), 1<<40)
	must(t, err, sparse.Close())
}

// A second implementation must get these. They may change only together with Version.
func TestGoldenHashes(t *testing.T) {
	dir := tmpfs(t)
	for _, step := range []struct {
		name  string
		build func()
		want  string
	}{
		{"an empty directory", func() {}, "4ed82a56f41e7d52d3857bd170e146277049119098db45c5448893e86bef5b7d"},
		{"one of everything", func() { buildZoo(t, dir) }, "e0ab18a15d3f72bb71564a44e5e86de86de248321a829105967d0f084c9456f8"},
	} {
		step.build()
		if got := hashOf(t, dir).String(); got != step.want {
			t.Errorf("%s: %s", step.name, got)
		}
	}
	if got := NewLister().Sum().String(); got != "bffe254e3e740426c1ae8e9b32e7f0b89e805d42da57015f26a56394fe361efa" {
		t.Errorf("no entry at all: %s", got)
	}
}

// The record of docs/tree-hash.md, written out by hand.
func TestARecordIsWhatThePageSays(t *testing.T) {
	number := func(n byte) string { return strings.Repeat("\x00", 7) + string([]byte{n}) }
	content := digest.Sum([]byte("hi"))
	want := digest.Sum([]byte("litmus-tree/1\n" +
		number(0) + number(0) + // the root
		number(3) + "dir" + number(0o100) + number(1) + number(2) + number(0) + strings.Repeat("\x00", 32) + number(0) + number(0) + number(0) + number(0) +
		number(0) + number(3) + "a/b" +
		number(4) + "file" + number(0o44) + number(0) + number(0) + number(2) + string(content[:]) + number(0) + number(0) + number(0) +
		number(1) + number(6) + "user.x" + number(1) + "y" +
		number(1) + number(1) + "c" +
		number(7) + "symlink" + number(0) + number(0) + number(0) + number(1) + strings.Repeat("\x00", 32) + number(1) + "/" + number(0) + number(0) + number(0)))
	l := NewLister()
	must(t,
		l.Add(0, "", Entry{Type: Dir, Mode: 0o100, UID: 1, GID: 2}),
		l.AddPath("/a/b", Entry{Type: File, Mode: 0o44, Size: 2, Content: content, Xattrs: []Xattr{{"user.x", "y"}}}),
		l.AddPath("/a/c", Entry{Type: Symlink, Size: 1, Target: "/"}))
	if got := l.Sum(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEverythingThatCountsChangesTheHashAndNothingElseDoes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(at func(string) string) error
		differs bool
	}{
		{"content", func(at func(string) string) error { return os.WriteFile(at("d/file"), []byte("hellO\n"), 0o644) }, true},
		{"permission", func(at func(string) string) error { return os.Chmod(at("d/file"), 0o640) }, true},
		{"the setuid bit", func(at func(string) string) error { return os.Chmod(at("d/file"), 0o644|os.ModeSetuid) }, true},
		{"the root's permission", func(at func(string) string) error { return os.Chmod(at(""), 0o700) }, true},
		{"owner", func(at func(string) string) error { return os.Chown(at("d/file"), 1, 0) }, true},
		{"group", func(at func(string) string) error { return os.Chown(at("d/file"), 0, 1) }, true},
		{"a link's target", func(at func(string) string) error {
			return errors.Join(os.Remove(at("link")), os.Symlink("/etc/passwd2", at("link")))
		}, true},
		{"a name", func(at func(string) string) error { return os.Rename(at("fifo"), at("fifo2")) }, true},
		{"a new directory", func(at func(string) string) error { return os.Mkdir(at("d/new"), 0o755) }, true},
		{"a device's number", func(at func(string) string) error {
			return errors.Join(os.Remove(at("char")), unix.Mknod(at("char"), unix.S_IFCHR|0o600, int(unix.Mkdev(5, 8))))
		}, true},
		{"one byte far out in a sparse file", func(at func(string) string) error { return writeAt(at("sparse"), 1<<39, "x") }, true},
		{"the size of a sparse file", func(at func(string) string) error { return os.Truncate(at("sparse"), 1<<40+4) }, true},
		{"a user attribute", func(at func(string) string) error { return unix.Setxattr(at("d"), "user.note", []byte("m"), 0) }, true},
		{"an empty user attribute", func(at func(string) string) error { return unix.Setxattr(at("d/file"), "user.e", nil, 0) }, true},
		{"file capabilities", func(at func(string) string) error {
			return unix.Setxattr(at("d/file"), "security.capability", []byte("\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0)
		}, true},
		{"times", func(at func(string) string) error {
			return unix.Lutimes(at("d/file"), []unix.Timeval{{Sec: 1}, {Sec: 2}})
		}, false},
		{"an attribute of the file system", func(at func(string) string) error {
			return unix.Setxattr(at("d"), "trusted.none", []byte("m"), 0)
		}, false},
		{"the inode number", func(at func(string) string) error {
			return errors.Join(os.WriteFile(at("d/copy"), []byte("hello\n"), 0o644), os.Rename(at("d/copy"), at("d/file")))
		}, false},
		{"zeros that are written out", func(at func(string) string) error { return writeAt(at("sparse"), 1<<30, strings.Repeat("\x00", 1<<16)) }, false},
		{"the order of creation", func(at func(string) string) error {
			return errors.Join(os.Remove(at("link")), os.Symlink("/etc/passwd", at("link")))
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := tmpfs(t)
			buildZoo(t, dir)
			before := hashOf(t, dir)
			must(t, tt.change(func(name string) string { return filepath.Join(dir, name) }))
			if after := hashOf(t, dir); (after != before) != tt.differs {
				t.Errorf("before %s, after %s", before, after)
			}
		})
	}
}

func writeAt(name string, offset int64, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(text), offset)
	return errors.Join(err, f.Close())
}

func TestHardLinksAreFilesOfTheirOwn(t *testing.T) {
	linked, copied := tmpfs(t), tmpfs(t)
	for _, dir := range []string{linked, copied} {
		must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644))
	}
	must(t, os.Link(filepath.Join(linked, "a"), filepath.Join(linked, "b")),
		os.WriteFile(filepath.Join(copied, "b"), []byte("x"), 0o644))
	if hashOf(t, linked) != hashOf(t, copied) {
		t.Error("a link and a copy differ")
	}
}

func TestWhatPretendsToBeLargeTakesNoTime(t *testing.T) {
	dir := tmpfs(t)
	for name, size := range map[string]int64{"tera": 1 << 40, "exa": 1<<63 - 4096} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644), os.Truncate(filepath.Join(dir, name), size))
	}
	big := filepath.Join(dir, "big")
	must(t, os.WriteFile(big, make([]byte, 32<<20), 0o644))
	for i := range 2000 { // 64 GB, read once
		must(t, os.Link(big, fmt.Sprintf("%s%d", big, i)))
	}
	hashOf(t, dir)
}

func TestDepthCostsNothing(t *testing.T) {
	dir := tmpfs(t)
	const depth = 1500
	name := strings.Repeat("n", 255) // far beyond PATH_MAX together
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	must(t, err)
	for range depth {
		must(t, unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		must(t, err, unix.Close(fd))
		fd = next
	}
	must(t, unix.Close(fd))
	seen := 0
	c, err := OpenCursor(dir)
	must(t, err)
	defer c.Close()
	must(t, Walk(t.Context(), c, func(d int, _ string, _ *Node) error {
		seen = max(seen, d)
		return nil
	}))
	if seen != depth-1 {
		t.Errorf("went down to %d", seen)
	}
	hashOf(t, dir)
}

func TestAWalkThatIsCancelledEnds(t *testing.T) {
	dir := tmpfs(t)
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := HashDir(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestMountsAreNotCrossed(t *testing.T) {
	dir := tmpfs(t)
	inner := filepath.Join(dir, "inner")
	must(t, os.Mkdir(inner, 0o755), unix.Mount("tmpfs", inner, "tmpfs", 0, ""))
	defer unix.Unmount(inner, unix.MNT_DETACH)
	_, err := HashDir(t.Context(), dir)
	var unreadable *ReadError
	if !errors.As(err, &unreadable) || unreadable.Path != "/inner" || !errors.Is(err, unix.EXDEV) {
		t.Errorf("got %v", err)
	}
}

// Another process swaps a directory for a link to the outside, and moves
// directories away, while the tree is read over and over.
func TestARaceDoesNotLeadOutOfTheRoot(t *testing.T) {
	dir := tmpfs(t)
	root, outside := filepath.Join(dir, "root"), filepath.Join(dir, "outside")
	must(t, os.MkdirAll(filepath.Join(root, "a/b/c"), 0o755), os.MkdirAll(outside, 0o755),
		os.WriteFile(filepath.Join(outside, "secret"), nil, 0o644), os.Symlink(outside, filepath.Join(dir, "link")))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				// Each is undone by the next; which of them work depends on the moment.
				unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "link"), unix.AT_FDCWD, filepath.Join(root, "a/b"), unix.RENAME_EXCHANGE)
				os.Rename(filepath.Join(root, "a"), filepath.Join(outside, "a"))
				os.Rename(filepath.Join(outside, "a"), filepath.Join(root, "a"))
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	whole := 0
	for range 3000 {
		c, err := OpenCursor(root)
		must(t, err)
		err = Walk(t.Context(), c, func(_ int, name string, _ *Node) error {
			if name == "secret" || name == "root" {
				t.Fatalf("the walk got out to %q", name)
			}
			return nil
		})
		if err == nil {
			whole++
		}
		var unreadable *ReadError
		if err != nil && !errors.As(err, &unreadable) {
			t.Fatalf("an error of another kind: %v", err)
		}
		must(t, c.Close())
	}
	t.Logf("%d of 3000 walks were not disturbed", whole)
}

func TestAListerTakesCanonicalOrderOnly(t *testing.T) {
	type add struct {
		depth int
		rest  string
	}
	for _, tt := range []struct {
		name string
		adds []add
		ok   bool
	}{
		{"a directory, what is in it, then its neighbour", []add{{0, ""}, {0, "a"}, {1, "b"}, {0, "a-"}}, true},
		{"directories on the way left out", []add{{0, "a/b"}, {1, "c/d"}, {2, "e"}}, true},
		{"out of order", []add{{0, "b"}, {0, "a"}}, false},
		{"the same twice", []add{{0, "a"}, {0, "a"}}, false},
		{"the root twice", []add{{0, ""}, {0, ""}}, false},
		{"the root after another", []add{{0, "a"}, {0, ""}}, false},
		{"a directory after what is in it", []add{{0, "a/b"}, {0, "a"}}, false},
		{"a path said with less in common than there is", []add{{0, "a"}, {0, "a/b"}}, false},
		{"a depth that is not there", []add{{0, "a"}, {2, "b"}}, false},
		{"a path that goes up", []add{{0, "a/../b"}}, false},
		{"an empty component", []add{{0, "a//b"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLister()
			var err error
			for _, a := range tt.adds {
				err = errors.Join(err, l.Add(a.depth, a.rest, Entry{Type: Dir}))
			}
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWholePathsListLikeAWalk(t *testing.T) {
	dir := tmpfs(t)
	buildZoo(t, dir)
	c, err := OpenCursor(dir)
	must(t, err)
	defer c.Close()
	type listed struct {
		path string
		Entry
	}
	var all []listed
	var stack []string
	must(t, Walk(t.Context(), c, func(depth int, name string, n *Node) error {
		if name != "" {
			stack = append(stack[:depth], name)
		}
		err := c.ReadContent(n)
		all = append(all, listed{"/" + strings.Join(stack, "/"), n.Entry})
		return err
	}))
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortFunc(all, func(a, b listed) int { return Compare(a.path, b.path) })
	l := NewLister()
	for _, e := range all {
		must(t, l.AddPath(e.path, e.Entry))
	}
	if got, want := l.Sum(), hashOf(t, dir); got != want {
		t.Errorf("by paths %s, by walking %s", got, want)
	}
}

func TestContentHashIsPlainWhereItCanBe(t *testing.T) {
	long := make([]byte, 3<<20)
	for i := range long {
		long[i] = byte(i) | 1
	}
	half := slices.Concat(long[:1<<20], make([]byte, 1<<20))
	for _, tt := range []struct {
		name  string
		bytes []byte
		plain bool
	}{
		{"nothing", nil, true},
		{"a megabyte of zeros", make([]byte, 1<<20), true},
		{"a large file", long, true},
		{"half of the blocks in use", half, true},
		{"one byte more than a megabyte of zeros", make([]byte, 1<<20+1), false},
		{"less than half of the blocks in use", append(half, 0), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inMemory := ContentHash(tt.bytes)
			if (inMemory == digest.Sum(tt.bytes)) != tt.plain {
				t.Errorf("got %s", inMemory)
			}
			name := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(name, tt.bytes, 0o644))
			f, err := os.Open(name)
			must(t, err)
			defer f.Close()
			if onDisk, err := fileContent(f, int64(len(tt.bytes))).hash(); err != nil || onDisk != inMemory {
				t.Errorf("from a file %s, %v; from memory %s", onDisk, err, inMemory)
			}
		})
	}
}

func TestAFileThatShrinksIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, make([]byte, 10), 0o644))
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	if _, err := fileContent(f, 11).hash(); err == nil {
		t.Error("no error")
	}
}

func BenchmarkHashDir(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 4096), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := HashDir(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzContentDoesNotDependOnStorage(f *testing.F) {
	f.Add(uint32(1<<20+5), uint32(4095), []byte("ab"))
	f.Add(uint32(3<<20), uint32(1<<20), make([]byte, 9000))
	f.Fuzz(func(t *testing.T, size, offset uint32, data []byte) {
		size %= 4 << 20
		offset %= 4 << 20
		whole := make([]byte, max(int(size), int(offset)+len(data)))
		copy(whole[offset:], data)
		file, err := os.Create(filepath.Join(t.TempDir(), "f"))
		must(t, err)
		defer file.Close()
		_, err = file.WriteAt(data, int64(offset))
		must(t, err, file.Truncate(int64(len(whole))))
		if got, err := fileContent(file, int64(len(whole))).hash(); err != nil || got != ContentHash(whole) {
			t.Errorf("sparse on disk %s, %v; in memory %s", got, err, ContentHash(whole))
		}
	})
}
