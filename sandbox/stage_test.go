package sandbox

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"litmus/internal/treehash"
	"litmus/internal/wire"
)

// imageWithLinks is a box under construction on an image that is all links.
func imageWithLinks(t *testing.T) *layout {
	t.Helper()
	needRoot(t)
	image := t.TempDir()
	at := func(name string) string { return filepath.Join(image, name) }
	must(t,
		os.Chmod(image, 0o755),
		os.MkdirAll(at("usr/bin"), 0o755), os.MkdirAll(at("etc"), 0o755), os.MkdirAll(at("srv/full/sub"), 0o750),
		os.WriteFile(at("usr/bin/sh"), []byte("sh"), 0o755),
		os.Symlink("usr/bin", at("bin")),
		os.Symlink("/etc", at("absolute")),
		os.Symlink("../../../../../../../../../../etc", at("upwards")),
		os.Symlink("/nowhere/at/all", at("dangling")),
		os.Symlink("loop", at("loop")),
		os.Symlink("/proc/self/root/etc", at("magic")),
		os.Symlink("/etc/passwd", at("etc/link")),
		os.WriteFile(at("etc/passwd"), []byte("root"), 0o600),
		os.Symlink("passwd", at("etc/hostname")))
	l, err := newLayout(t.TempDir(), []string{image})
	must(t, err)
	t.Cleanup(func() { must(t, l.remove(t.Context())) })
	must(t, l.mountStaging())
	return l
}

// placeAll stages a tree and returns what it has become in the box.
func placeAll(t *testing.T, l *layout, tree ...File) error {
	t.Helper()
	return inDir(l.rootfs(), func(root *os.File) error {
		if err := stage(t.Context(), root, tree); err != nil {
			return err
		}
		want, err := StagedHash(tree)
		if err != nil {
			return err
		}
		got, err := readStaged(t.Context(), root, tree)
		if err == nil && got != want {
			t.Errorf("staged %s, want %s", got, want)
		}
		return err
	})
}

func plain(path, content string) File {
	return File{Path: path, Type: treehash.File, Mode: 0o644, Content: []byte(content)}
}

func TestStagingFollowsTheImagesLinksInsideTheBox(t *testing.T) {
	for _, tt := range []struct{ name, path, landed string }{
		{"a relative link to a directory", "/bin/x", "usr/bin/x"},
		{"an absolute link", "/absolute/x", "etc/x"},
		{"a link that goes up and up", "/upwards/x", "etc/x"},
		{"a link at the path itself is replaced", "/etc/link", "etc/link"},
		{"a file that is there is replaced", "/bin/sh", "usr/bin/sh"},
		{"directories that are missing", "/absolute/a/b/c", "etc/a/b/c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hostBefore, err := os.ReadDir("/etc")
			must(t, err)
			l := imageWithLinks(t)
			must(t, placeAll(t, l, plain(tt.path, "fixture")))
			// The upper layer itself, where no link can deceive.
			landed := filepath.Join(l.fs("staged"), tt.landed)
			if info, err := os.Lstat(landed); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: %v, %v", tt.landed, info, err)
			}
			if b, err := os.ReadFile(landed); err != nil || string(b) != "fixture" {
				t.Errorf("%s has %q, %v", tt.landed, b, err)
			}
			if hostAfter, err := os.ReadDir("/etc"); err != nil || len(hostAfter) != len(hostBefore) {
				t.Errorf("the host's /etc has changed: %v", err)
			}
		})
	}
}

func TestWhatCantBeStagedSaysWhich(t *testing.T) {
	for _, tt := range []struct {
		name string
		tree []File
		want string
	}{
		{"below a link to nowhere", []File{plain("/dangling/x", "")}, "staging /dangling/x: /dangling is a link to nowhere"},
		{"below a link to itself", []File{plain("/loop/x", "")}, "staging /loop/x: "},
		{"below a way out through /proc", []File{plain("/magic/x", "")}, "staging /magic/x: "},
		{"below a file", []File{plain("/etc/passwd/x", "")}, "staging /etc/passwd/x: "},
		{"a file in place of a directory", []File{plain("/srv/full", "")}, "staging /srv/full: removing what is there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var failed *StageError
			if err := placeAll(t, imageWithLinks(t), tt.tree...); !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStagedEntriesLookAsTheyWereGiven(t *testing.T) {
	l := imageWithLinks(t)
	tree := []File{
		{Path: "/srv/x", Type: treehash.File, Mode: 0o755 | fs.ModeSetuid, Content: []byte("x")},
		{Path: "/srv/d", Type: treehash.Dir, Mode: 0o777 | fs.ModeSticky},
		{Path: "/srv/d/none", Type: treehash.File, Mode: 0},
		{Path: "/srv/l", Type: treehash.Symlink, Target: "/etc/passwd"},
		{Path: "/data", Type: treehash.Symlink, Target: "srv/full"},
		plain("/data/through", "the link before it"),
		{Path: "/srv/full", Type: treehash.Dir, Mode: 0o711},
		plain("/srv/new\nline \xff", "odd"),
	}
	must(t, placeAll(t, l, tree...))
	for name, want := range map[string]fs.FileMode{
		"srv/x": 0o755 | fs.ModeSetuid, "srv/d": 0o777 | fs.ModeSticky | fs.ModeDir, "srv/d/none": 0,
		"srv/l": 0o777 | fs.ModeSymlink, "srv/full/through": 0o644, "srv/full": 0o711 | fs.ModeDir,
	} {
		if info, err := os.Lstat(filepath.Join(l.rootfs(), name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(l.rootfs(), "srv/full/sub")); err != nil {
		t.Errorf("a directory that was there lost what is in it: %v", err)
	}
}

func TestTheHashOfATreeDoesNotDependOnItsOrder(t *testing.T) {
	tree := []File{plain("/a-b", "1"), plain("/a/b", "2"), {Path: "/a", Type: treehash.Dir, Mode: 0o755}, plain("/a/c", "3"), plain("/z", "")}
	want, err := StagedHash(tree)
	must(t, err)
	for range 20 {
		rand.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
		if got, err := StagedHash(tree); err != nil || got != want {
			t.Fatalf("%s, %v", got, err)
		}
	}
	const golden = "cd204968a2f9732222b7e26309e4b99be651dccfb75a5440d6e64002e4b067f9"
	if want.String() != golden {
		t.Errorf("golden hash: %s", want)
	}
}

func TestATreeThatWasTamperedWithIsSeen(t *testing.T) {
	for name, tamper := range map[string]func(string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("other"), 0o644) },
		"mode":    func(path string) error { return os.Chmod(path, 0o600) },
		"owner":   func(path string) error { return os.Chown(path, 1, 1) },
		"type":    func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o644)) },
		"absence": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			l := imageWithLinks(t)
			tree := []File{plain("/srv/x", "fixture")}
			must(t, placeAll(t, l, tree...), tamper(filepath.Join(l.rootfs(), "srv/x")))
			want, err := StagedHash(tree)
			must(t, err)
			err = inDir(l.rootfs(), func(root *os.File) error {
				if got, err := readStaged(t.Context(), root, tree); err == nil && got == want {
					t.Error("nothing is seen")
				}
				return nil
			})
			must(t, err)
		})
	}
}

func TestTheSkeletonReplacesIdentityAndKeepsDirectories(t *testing.T) {
	l := imageWithLinks(t)
	err := inDir(l.rootfs(), func(root *os.File) error {
		return buildSkeleton(t.Context(), root, "/absolute/work", nil)
	})
	must(t, err)
	if b, err := os.ReadFile(filepath.Join(l.rootfs(), "etc/hostname")); err != nil || string(b) != "box\n" {
		t.Errorf("hostname %q, %v", b, err)
	}
	// It was a link to passwd in the image.
	if b, err := os.ReadFile(filepath.Join(l.rootfs(), "etc/passwd")); err != nil || string(b) != "root" {
		t.Errorf("passwd %q, %v", b, err)
	}
	for name, want := range map[string]fs.FileMode{"proc": 0o555 | fs.ModeDir, "tmp": 0o777 | fs.ModeSticky | fs.ModeDir, "root": 0o700 | fs.ModeDir, "etc/work": 0o755 | fs.ModeDir} {
		if info, err := os.Lstat(filepath.Join(l.rootfs(), name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	must(t, l.finishStaging(t.Context(), Limits{Writable: 1 << 20, Inodes: 100}))
	var stat unix.Stat_t
	for _, name := range []string{"", "etc", "etc/hostname", "tmp"} {
		must(t, unix.Lstat(filepath.Join(l.rootfs(), name), &stat))
		if stat.Mtim.Sec != pinnedTime.Unix() || stat.Mtim.Nsec != 0 {
			t.Errorf("%q changed at %v", name, stat.Mtim)
		}
	}
}

func TestNamesGetAddressesByTheirOrder(t *testing.T) {
	listeners, err := mapListeners([]Endpoint{{"z.example", 80}, {"a.example", 80}, {"127.0.0.9", 1}, {"localhost", 2}, {"z.example", 443}, {"::1", 3}})
	must(t, err)
	want := []wire.Listener{
		{Host: "z.example", Address: "127.0.1.3", Port: 80}, {Host: "a.example", Address: "127.0.1.1", Port: 80},
		{Host: "127.0.0.9", Address: "127.0.0.9", Port: 1}, {Host: "localhost", Address: "127.0.0.1", Port: 2},
		{Host: "z.example", Address: "127.0.1.3", Port: 443}, {Host: "::1", Address: "::1", Port: 3},
	}
	if !slices.Equal(listeners, want) {
		t.Errorf("got %+v", listeners)
	}
	if got, want := hostsFile(listeners), "127.0.0.1\tlocalhost box\n::1\tlocalhost\n127.0.1.1\ta.example\n127.0.1.3\tz.example\n"; got != want {
		t.Errorf("hosts %q", got)
	}
	for _, bad := range []Endpoint{{"", 80}, {"a b", 80}, {"a\nb", 80}, {"10.0.0.1", 80}, {"a", 0}, {"a", 65536}} {
		var wrong *SpecError
		if _, err := mapListeners([]Endpoint{bad}); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func FuzzCheckPathTakesNothingThatLeadsAway(f *testing.F) {
	for _, seed := range []string{"/", "/a", "/a/../b", "//a", "/a/", "a", "/a\x00", "/\xff", "/..", "/."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if checkPath(name) != nil {
			return
		}
		if len(name) > maxPath || name[0] != '/' {
			t.Errorf("took %q", name)
		}
		for part := range strings.SplitSeq(name[1:], "/") {
			if part == ".." || part == "." || part == "" && name != "/" {
				t.Errorf("took %q", name)
			}
		}
	})
}
