package sandbox

import (
	"context"
	"fmt"
	"io"

	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/distribution/reference"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// registryImage is an image in a registry, named by tag or digest. Credentials
// are not used: only what anybody may pull can be named. Plain HTTP is spoken
// to this machine only.
type registryImage struct {
	ref      string // full form, with a tag or a digest
	resolver remotes.Resolver
	fetcher  remotes.Fetcher // set by resolve
}

func newRegistryImage(ref string) (*registryImage, error) {
	named, err := reference.ParseDockerRef(ref)
	if err != nil {
		return nil, &MissingError{
			What: fmt.Sprintf("image reference %q: %v", ref, err),
			Fix:  "use builtin, oci-archive:PATH, or a registry reference like docker.io/library/debian:12",
		}
	}
	hosts := docker.ConfigureDefaultRegistries(docker.WithPlainHTTP(docker.MatchLocalhost))
	return &registryImage{
		ref:      named.String(),
		resolver: docker.NewResolver(docker.ResolverOptions{Hosts: hosts}),
	}, nil
}

func (im *registryImage) resolve(ctx context.Context) (ocispec.Descriptor, error) {
	name, desc, err := im.resolver.Resolve(ctx, im.ref)
	if err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("asking registry: %w", err)
	}
	if im.fetcher, err = im.resolver.Fetcher(ctx, name); err != nil {
		return ocispec.Descriptor{}, fmt.Errorf("asking registry: %w", err)
	}
	return platformManifest(ctx, im, desc)
}

// Fetch implements remotes.Fetcher, after resolve.
func (im *registryImage) Fetch(ctx context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
	return im.fetcher.Fetch(ctx, desc)
}
