package sandbox_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

// storedImage is the builtin image as an archive and a registry serve it: by
// itself, or as the one for this machine in an index.
type storedImage struct {
	manifest ocispec.Descriptor
	index    ocispec.Descriptor
	blobs    map[digest.Digest][]byte
}

func newStoredImage(t *testing.T) *storedImage {
	t.Helper()
	manifest, blobs, err := sandbox.BuiltinImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	im := &storedImage{manifest: manifest, blobs: blobs}
	here, elsewhere := manifest, manifest
	here.Platform = &ocispec.Platform{OS: "linux", Architecture: runtime.GOARCH}
	elsewhere.Platform = &ocispec.Platform{OS: "linux", Architecture: "s390x"}
	elsewhere.Digest = digest.FromString("an image for another machine")
	im.index = im.add(t, ocispec.MediaTypeImageIndex, ocispec.Index{
		MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{elsewhere, here},
	})
	return im
}

func (im *storedImage) add(t *testing.T, mediaType string, v any) ocispec.Descriptor {
	t.Helper()
	blob, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	desc := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(blob), Size: int64(len(blob))}
	im.blobs[desc.Digest] = blob
	return desc
}

// writeArchive writes an OCI archive whose index names the given descriptors.
func (im *storedImage) writeArchive(t *testing.T, named ...ocispec.Descriptor) string {
	t.Helper()
	index, err := json.Marshal(ocispec.Index{Manifests: named})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		ocispec.ImageLayoutFile: `{"imageLayoutVersion":"1.0.0"}`,
		ocispec.ImageIndexFile:  string(index),
	}
	for digest, blob := range im.blobs {
		files["./blobs/sha256/"+digest.Encoded()] = string(blob)
	}
	path := filepath.Join(t.TempDir(), "image.tar")
	if err := writeTar(path, files); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeTar(path string, files map[string]string) error {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		if _, err := w.Write([]byte(content)); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// withLayer returns the manifest of the image with one more layer, which holds
// an empty file.
func (im *storedImage) withLayer(t *testing.T, file string) ocispec.Descriptor {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Name: file, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var manifest ocispec.Manifest
	var config ocispec.Image
	for digest, v := range map[digest.Digest]any{im.manifest.Digest: &manifest, im.config(t): &config} {
		if err := json.Unmarshal(im.blobs[digest], v); err != nil {
			t.Fatal(err)
		}
	}
	desc := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageLayer, Digest: digest.FromBytes(layer.Bytes()), Size: int64(layer.Len())}
	im.blobs[desc.Digest] = layer.Bytes()
	manifest.Layers = append(manifest.Layers, desc)
	config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, desc.Digest)
	manifest.Config = im.add(t, ocispec.MediaTypeImageConfig, config)
	return im.add(t, ocispec.MediaTypeImageManifest, manifest)
}

// config is the digest of the image's configuration.
func (im *storedImage) config(t *testing.T) digest.Digest {
	t.Helper()
	var manifest ocispec.Manifest
	if err := json.Unmarshal(im.blobs[im.manifest.Digest], &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Config.Digest
}

// serve is a registry with the one repository "os", whose tags are given.
func (im *storedImage) serve(t *testing.T, tags map[string]ocispec.Descriptor) (host string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/os/"), "/")
		desc, ok := tags[name]
		if !ok {
			desc = ocispec.Descriptor{Digest: digest.Digest(name), MediaType: "application/octet-stream"}
			for _, d := range tags {
				if d.Digest.String() == name {
					desc = d
				}
			}
			if name == im.manifest.Digest.String() {
				desc = im.manifest
			}
		}
		blob, ok := im.blobs[desc.Digest]
		if !ok || kind != "manifests" && kind != "blobs" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", desc.MediaType)
		w.Header().Set("Docker-Content-Digest", desc.Digest.String())
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(blob)))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestAllReferencesToOneImageGiveOneDigestAndTheSameFiles(t *testing.T) {
	stored := newStoredImage(t)
	host := stored.serve(t, map[string]ocispec.Descriptor{"single": stored.manifest, "multi": stored.index})
	refs := []string{
		"builtin",
		"oci-archive:" + stored.writeArchive(t, stored.manifest),
		"oci-archive:" + stored.writeArchive(t, stored.index),
		host + "/os:single",
		host + "/os:multi",
		host + "/os@" + stored.manifest.Digest.String(),
		host + "/os@" + stored.index.Digest.String(),
	}
	for _, daemon := range sandboxtest.Daemons {
		for _, ref := range refs {
			t.Run(string(daemon)+" "+ref, func(t *testing.T) {
				resolved, err := sandbox.ResolveDigest(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				config := sandboxtest.Config(t, daemon)
				engine := sandboxtest.Open(t, config)
				im, err := engine.Image(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				if im.Ref != ref || im.Digest != stored.manifest.Digest.String() || im.Digest != resolved {
					t.Errorf("got %+v, resolved %s", im, resolved)
				}
				if len(im.Lowers()) != 1 {
					t.Fatalf("layers %q", im.Lowers())
				}
				if link, err := os.Readlink(filepath.Join(im.Lowers()[0], "bin/ls")); link != "/bin/busybox" {
					t.Errorf("bin/ls links to %q, %v", link, err)
				}
				if err := engine.Close(); err != nil {
					t.Fatal(err)
				}
				sandboxtest.NoTraces(t, config.StateDir, config.Address)
			})
		}
	}
}

func TestAnImageOfSeveralLayersHasTheTopmostFirst(t *testing.T) {
	stored := newStoredImage(t)
	ref := "oci-archive:" + stored.writeArchive(t, stored.withLayer(t, "etc/second"))
	for _, daemon := range sandboxtest.Daemons {
		t.Run("on "+string(daemon), func(t *testing.T) {
			im, err := sandboxtest.Open(t, sandboxtest.Config(t, daemon)).Image(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if len(im.Lowers()) != 2 {
				t.Fatalf("layers %q", im.Lowers())
			}
			for i, name := range []string{"etc/second", "etc/passwd"} {
				if _, err := os.Stat(filepath.Join(im.Lowers()[i], name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestAnImageIsFetchedOnceForAllEnginesOfASlot(t *testing.T) {
	stored := newStoredImage(t)
	archive := stored.writeArchive(t, stored.manifest)
	config := sandboxtest.Config(t, sandboxtest.Private)
	for range 2 {
		engine := sandboxtest.Open(t, config)
		im, err := engine.Image(t.Context(), "oci-archive:"+archive)
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Image(t.Context(), "oci-archive:"+archive)
		if err != nil || again != im {
			t.Errorf("asked again: %p and %p, %v", im, again, err)
		}
		other, err := engine.Image(t.Context(), "builtin")
		if err != nil || !slices.Equal(other.Lowers(), im.Lowers()) {
			t.Errorf("the same image by another name: %v, %v", other, err)
		}
		if err := engine.Close(); err != nil {
			t.Fatal(err)
		}
		// Its blobs are needed no more.
		stored.blobs = map[digest.Digest][]byte{stored.manifest.Digest: stored.blobs[stored.manifest.Digest]}
		archive = stored.writeArchive(t, stored.manifest)
	}
}

func TestResolveDigestSaysWhatIsWrong(t *testing.T) {
	stored := newStoredImage(t)
	host := stored.serve(t, nil)
	notForHere := stored.add(t, ocispec.MediaTypeImageIndex, ocispec.Index{Manifests: []ocispec.Descriptor{
		{MediaType: ocispec.MediaTypeImageManifest, Digest: stored.manifest.Digest, Platform: &ocispec.Platform{OS: "plan9", Architecture: "mips"}},
		{MediaType: ocispec.MediaTypeImageManifest, Digest: stored.manifest.Digest, Platform: &ocispec.Platform{OS: "unknown", Architecture: "unknown"}},
	}})
	named := func(name string) ocispec.Descriptor {
		d := stored.manifest
		d.Annotations = map[string]string{ocispec.AnnotationRefName: name}
		return d
	}
	forged := stored.index
	forged.Digest = digest.FromString("something else")
	stored.blobs[forged.Digest] = stored.blobs[stored.index.Digest]
	notATar := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(notATar, []byte(strings.Repeat("no tar ", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, ref, want string }{
		{"no such archive", "oci-archive:/none.tar", "no such file"},
		{"no archive at all", "oci-archive:" + notATar, "tar"},
		{"an archive with nothing named", "oci-archive:" + stored.writeArchive(t), "none of its 0 manifests"},
		{"two images in one archive", "oci-archive:" + stored.writeArchive(t, named("a"), named("b")), "holds 2 images"},
		{"only for other machines", "oci-archive:" + stored.writeArchive(t, notForHere), "none of its 2 manifests is for linux"},
		{"content that has another digest", "oci-archive:" + stored.writeArchive(t, forged), "another digest"},
		{"a tag that the registry does not have", host + "/os:none", "not found"},
		{"no reference at all", "UPPER CASE", "invalid reference format"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := sandbox.ResolveDigest(t.Context(), test.ref)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to contain %q", err, test.want)
			}
		})
	}
}

func TestPlainHTTPIsSpokenToThisMachineOnly(t *testing.T) {
	// TEST-NET-1 is nobody's; a cancelled context shows what would be asked.
	_, err := sandbox.ResolveDigest(canceled(t), "192.0.2.1:5000/os:tag")
	if err == nil || !strings.Contains(err.Error(), "https://192.0.2.1:5000") {
		t.Errorf("got %v", err)
	}
	_, err = sandbox.ResolveDigest(canceled(t), "localhost:5000/os:tag")
	if err == nil || !strings.Contains(err.Error(), "http://localhost:5000") {
		t.Errorf("got %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestLowersOfReadsTheLayersOutOfAView(t *testing.T) {
	tests := []struct {
		name   string
		mounts []mount.Mount
		want   []string
	}{
		{"one layer is bound", []mount.Mount{{Type: "bind", Source: "/s/1/fs", Options: []string{"ro", "rbind"}}}, []string{"/s/1/fs"}},
		{"more are an overlay, the topmost first", []mount.Mount{{Type: "overlay", Source: "overlay", Options: []string{"index=off", "lowerdir=/s/2/fs:/s/1/fs"}}}, []string{"/s/2/fs", "/s/1/fs"}},
		{"an overlay without layers is refused", []mount.Mount{{Type: "overlay"}}, nil},
		{"another file system is refused", []mount.Mount{{Type: "erofs", Source: "/s/1/layer.erofs"}}, nil},
		{"several mounts are refused", make([]mount.Mount, 2), nil},
		{"no mount is refused", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := sandbox.LowersOf(test.mounts)
			if !slices.Equal(got, test.want) || (err == nil) != (test.want != nil) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
