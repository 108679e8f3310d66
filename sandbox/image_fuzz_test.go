package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"litmus/sandbox"
)

func FuzzAnArchiveIsResolvedOrRefused(f *testing.F) {
	archive := func(files map[string]string) []byte {
		path := filepath.Join(f.TempDir(), "seed.tar")
		if err := writeTar(path, files); err != nil {
			f.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	layout := `{"imageLayoutVersion":"1.0.0"}`
	f.Add(archive(map[string]string{}))
	f.Add(archive(map[string]string{"oci-layout": layout, "index.json": `{"manifests":[]}`}))
	f.Add(archive(map[string]string{"oci-layout": layout, "index.json": `{"manifests":[{"digest":"sha256:..","mediaType":"` + ocispec.MediaTypeImageIndex + `"}]}`}))
	f.Add(archive(map[string]string{"oci-layout": layout, "index.json": `{"manifests":[{"digest":"x","mediaType":"` + ocispec.MediaTypeImageManifest + `","platform":{"os":"linux","architecture":"amd64"}}]}`}))
	path := filepath.Join(f.TempDir(), "image.tar")
	f.Fuzz(func(t *testing.T, archive []byte) {
		if err := os.WriteFile(path, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		digest, err := sandbox.ResolveDigest(t.Context(), "oci-archive:"+path)
		if (digest == "") != (err != nil) {
			t.Errorf("digest %q with error %v", digest, err)
		}
	})
}
