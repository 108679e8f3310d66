package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// builtinImage is the image "builtin": one uncompressed layer with busybox and
// bash from the distribution's static packages. Its digest is a function of
// these two binaries and of this program: no clock, no random bytes, no
// compressor goes into it.
type builtinImage struct {
	manifest ocispec.Descriptor
	blobs    map[digest.Digest][]byte // manifest, configuration, layer
}

// builtinPath is PATH in the image's configuration.
const builtinPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// newBuiltinImage builds the image in memory (about 5 MB) from the machine's
// programs. A *MissingError names the package that is not installed.
func newBuiltinImage(ctx context.Context) (*builtinImage, error) {
	programs, err := findPrograms(ctx)
	if err != nil {
		return nil, err
	}
	layer, err := builtinLayer(programs)
	if err != nil {
		return nil, fmt.Errorf("building builtin image: %w", err)
	}
	im := &builtinImage{blobs: map[digest.Digest][]byte{}}
	layerDesc := im.add(ocispec.MediaTypeImageLayer, layer)
	platform := platforms.DefaultSpec()
	config, err := im.addJSON(ocispec.MediaTypeImageConfig, ocispec.Image{
		Platform: ocispec.Platform{Architecture: platform.Architecture, OS: platform.OS, Variant: platform.Variant},
		Config:   ocispec.ImageConfig{Env: []string{"PATH=" + builtinPath}, Cmd: []string{"/bin/bash"}, WorkingDir: "/root"},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{layerDesc.Digest}},
		History:  []ocispec.History{{CreatedBy: "litmus builtin"}},
	})
	if err != nil {
		return nil, err
	}
	im.manifest, err = im.addJSON(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageManifest,
		Config:    config,
		Layers:    []ocispec.Descriptor{layerDesc},
	})
	return im, err
}

func (im *builtinImage) resolve(context.Context) (ocispec.Descriptor, error) { return im.manifest, nil }

// Fetch implements remotes.Fetcher.
func (im *builtinImage) Fetch(_ context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
	blob, ok := im.blobs[desc.Digest]
	if !ok {
		return nil, fmt.Errorf("blob %s of builtin image: %w", desc.Digest, errdefs.ErrNotFound)
	}
	return io.NopCloser(bytes.NewReader(blob)), nil
}

func (im *builtinImage) add(mediaType string, blob []byte) ocispec.Descriptor {
	desc := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(blob), Size: int64(len(blob))}
	im.blobs[desc.Digest] = blob
	return desc
}

func (im *builtinImage) addJSON(mediaType string, v any) (ocispec.Descriptor, error) {
	blob, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("building builtin image: %w", err)
	}
	return im.add(mediaType, blob), nil
}
