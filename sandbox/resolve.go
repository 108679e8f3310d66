package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/platforms"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	builtinRef    = "builtin"
	archivePrefix = "oci-archive:"
	// maxManifest bounds a manifest or index that is read into memory, in bytes.
	maxManifest = 4 << 20
	// maxIndexDepth bounds how many indexes may lead to a manifest.
	maxIndexDepth = 4
)

// imageSource is where the blobs of one image come from.
type imageSource interface {
	// resolve returns the manifest of the image for this machine's platform.
	resolve(ctx context.Context) (ocispec.Descriptor, error)
	remotes.Fetcher
}

// ResolveDigest returns the digest, "sha256:…", of the manifest that ref stands
// for on this machine's platform. An index is followed down to the manifest,
// so that one digest means one file system. It needs no daemon; a registry
// reference without a digest asks the registry.
func ResolveDigest(ctx context.Context, ref string) (string, error) {
	source, err := openImage(ctx, ref)
	if err != nil {
		return "", err
	}
	defer closeImage(source)
	manifest, err := source.resolve(ctx)
	if err != nil {
		return "", fmt.Errorf("resolving image %s: %w", ref, err)
	}
	return manifest.Digest.String(), nil
}

// openImage returns the source that a reference names; closeImage closes it.
func openImage(ctx context.Context, ref string) (imageSource, error) {
	if ref == builtinRef {
		return newBuiltinImage(ctx)
	}
	if path, ok := strings.CutPrefix(ref, archivePrefix); ok {
		return openArchive(path)
	}
	return newRegistryImage(ref)
}

func closeImage(source imageSource) {
	if c, ok := source.(io.Closer); ok {
		c.Close() // only ever read from
	}
}

// platformManifest follows desc through indexes to the manifest for this
// machine's platform.
func platformManifest(ctx context.Context, fetcher remotes.Fetcher, desc ocispec.Descriptor) (ocispec.Descriptor, error) {
	for range maxIndexDepth {
		if images.IsManifestType(desc.MediaType) {
			return desc, nil
		}
		if !images.IsIndexType(desc.MediaType) {
			return desc, fmt.Errorf("%s has media type %q, which is no image", desc.Digest, desc.MediaType)
		}
		blob, err := readManifest(ctx, fetcher, desc)
		if err != nil {
			return desc, err
		}
		if desc, err = chooseManifest(blob); err != nil {
			return desc, err
		}
	}
	return desc, fmt.Errorf("more than %d nested indexes", maxIndexDepth)
}

// chooseManifest picks, out of the JSON of an image index, the entry that fits
// this machine best. An entry without a platform is taken if it is the only one.
func chooseManifest(index []byte) (ocispec.Descriptor, error) {
	var parsed ocispec.Index
	if err := json.Unmarshal(index, &parsed); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("reading image index: %w", err)
	}
	if len(parsed.Manifests) == 1 && parsed.Manifests[0].Platform == nil {
		return parsed.Manifests[0], nil
	}
	matcher := platforms.Only(platforms.DefaultSpec())
	var best *ocispec.Descriptor
	for i, m := range parsed.Manifests {
		if m.Platform == nil || !matcher.Match(*m.Platform) {
			continue
		}
		if best == nil || matcher.Less(*m.Platform, *best.Platform) {
			best = &parsed.Manifests[i]
		}
	}
	if best == nil {
		return ocispec.Descriptor{}, fmt.Errorf("none of its %d manifests is for %s",
			len(parsed.Manifests), platforms.Format(platforms.DefaultSpec()))
	}
	return *best, nil
}

// readManifest fetches a small blob and verifies its digest.
func readManifest(ctx context.Context, fetcher remotes.Fetcher, desc ocispec.Descriptor) ([]byte, error) {
	if err := desc.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("digest %q: %w", desc.Digest, err)
	}
	r, err := fetcher.Fetch(ctx, desc)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", desc.Digest, err)
	}
	defer r.Close()
	blob, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", desc.Digest, err)
	}
	if len(blob) > maxManifest {
		return nil, fmt.Errorf("fetching %s: more than %d bytes", desc.Digest, maxManifest)
	}
	if desc.Digest.Algorithm().FromBytes(blob) != desc.Digest {
		return nil, fmt.Errorf("fetching %s: content has another digest", desc.Digest)
	}
	return blob, nil
}
