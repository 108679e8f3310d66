package sandbox_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"litmus/sandbox"
)

func TestBuiltinIsTheSameAtEveryBuild(t *testing.T) {
	first, blobs, err := sandbox.BuiltinImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := sandbox.BuiltinImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first.Digest != second.Digest {
		t.Errorf("%s, then %s", first.Digest, second.Digest)
	}
	for digest, blob := range blobs {
		if bytes.Contains(blob, []byte(`"created"`)) {
			t.Errorf("blob %s has a date", digest)
		}
	}
}

// builtinLayer reads the headers and contents of the image's one layer.
func builtinLayer(t *testing.T) (headers []*tar.Header, contents map[string][]byte) {
	t.Helper()
	desc, blobs, err := sandbox.BuiltinImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(blobs[desc.Digest], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Layers) != 1 {
		t.Fatalf("%d layers", len(manifest.Layers))
	}
	contents = map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(blobs[manifest.Layers[0].Digest]))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, header)
		if contents[header.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuiltinLayerDependsOnNothingOfTheMachineButThePrograms(t *testing.T) {
	headers, _ := builtinLayer(t)
	if !slices.IsSortedFunc(headers, func(a, b *tar.Header) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("entries are not sorted")
	}
	for _, h := range headers {
		if !h.ModTime.Equal(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s has time %v", h.Name, h.ModTime)
		}
		if h.Uid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s belongs to %d %q:%q", h.Name, h.Uid, h.Uname, h.Gname)
		}
	}
}

func TestEveryEntryOfTheBuiltinLayerHasItsDirectoryBefore(t *testing.T) {
	headers, _ := builtinLayer(t)
	seen := map[string]bool{".": true}
	for _, h := range headers {
		if dir := path.Dir(path.Clean(h.Name)); !seen[dir] {
			t.Errorf("%s comes before %s", h.Name, dir)
		}
		if h.Typeflag == tar.TypeDir {
			seen[path.Clean(h.Name)] = true
		}
	}
}

func TestBuiltinHasWhatAnOrdinarySystemHas(t *testing.T) {
	headers, contents := builtinLayer(t)
	byName := map[string]*tar.Header{}
	for _, h := range headers {
		byName[h.Name] = h
	}
	tests := []struct {
		name string
		kind byte
		mode int64
		link string
	}{
		{"bin/bash", tar.TypeReg, 0o755, ""},
		{"bin/busybox", tar.TypeReg, 0o755, ""},
		{"bin/sh", tar.TypeSymlink, 0o777, "/bin/busybox"},
		{"bin/ls", tar.TypeSymlink, 0o777, "/bin/busybox"},
		{"usr/bin/find", tar.TypeSymlink, 0o777, "/bin/busybox"},
		{"usr/sbin/chroot", tar.TypeSymlink, 0o777, "/bin/busybox"},
		{"etc/shadow", tar.TypeReg, 0o640, ""},
		{"etc/passwd", tar.TypeReg, 0o644, ""},
		{"etc/os-release", tar.TypeReg, 0o644, ""},
		{"root/", tar.TypeDir, 0o700, ""},
		{"root/.bashrc", tar.TypeReg, 0o644, ""},
		{"tmp/", tar.TypeDir, 0o1777, ""},
		{"var/tmp/", tar.TypeDir, 0o1777, ""},
		{"etc/ssl/certs/", tar.TypeDir, 0o755, ""},
	}
	for _, test := range tests {
		h := byName[test.name]
		if h == nil {
			t.Errorf("%s is missing", test.name)
			continue
		}
		if h.Typeflag != test.kind || h.Mode != test.mode || h.Linkname != test.link {
			t.Errorf("%s: type %c, mode %o, link %q", h.Name, h.Typeflag, h.Mode, h.Linkname)
		}
	}
	for _, account := range []string{"passwd:shadow", "group:gshadow"} {
		public, secret, _ := strings.Cut(account, ":")
		if a, b := names(contents["etc/"+public]), names(contents["etc/"+secret]); !slices.Equal(a, b) {
			t.Errorf("%s names %v, %s names %v", public, a, secret, b)
		}
	}
}

// names are the first fields of a file like /etc/passwd.
func names(file []byte) []string {
	var names []string
	for line := range strings.Lines(string(file)) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	return names
}

func TestParseAppletsTakesProgramDirectoriesOnly(t *testing.T) {
	got := sandbox.ParseApplets("bin/ash\nbin/bash\nbin/busybox\nlinuxrc\nsbin/init\n\n../etc/passwd\nusr/bin/[\nusr/sbin/chroot")
	want := []string{"bin/ash", "sbin/init", "usr/bin/[", "usr/sbin/chroot"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestADynamicProgramIsNotStatic(t *testing.T) {
	dynamic, err := exec.LookPath("ls")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path string
		want bool
	}{{"/bin/busybox", true}, {dynamic, false}, {"/etc/passwd", false}} {
		b, err := os.ReadFile(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := sandbox.IsStatic(b); got != test.want {
			t.Errorf("%s: %v", test.path, got)
		}
	}
}
