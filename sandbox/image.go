package sandbox

import (
	"context"
	"errors"
	"fmt"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Image is a root file system that boxes start from: unpacked, and held by the
// engine until it is closed.
type Image struct {
	// Ref is the reference as it was given to Engine.Image.
	Ref string
	// Digest is the digest of the image's manifest for this platform, "sha256:…".
	Digest string

	lowerDirs []string
	view      view
}

// lowers are the directories of the image's layers, topmost first, as
// overlayfs takes them. Nothing may write to them.
func (im *Image) lowers() []string { return im.lowerDirs }

// Image resolves, fetches and unpacks an image: "builtin", "oci-archive:PATH"
// or a registry reference. What is already in the daemon is not fetched again;
// asking one engine for one reference again returns the same Image.
func (e *Engine) Image(ctx context.Context, ref string) (*Image, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if im, ok := e.images[ref]; ok {
		return im, nil
	}
	source, err := openImage(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer closeImage(source)
	im, err := e.loadImage(ctx, ref, source)
	if err != nil {
		return nil, fmt.Errorf("loading image %s: %w", ref, err)
	}
	e.images[ref] = im
	return im, nil
}

// loadImage does everything under the engine's lease, so that the daemon's
// garbage collector takes nothing from under it.
func (e *Engine) loadImage(ctx context.Context, ref string, source imageSource) (*Image, error) {
	manifest, err := source.resolve(ctx)
	if err != nil {
		return nil, err
	}
	ctx, err = e.withLease(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := e.fetchImage(ctx, source, manifest)
	if err != nil {
		return nil, err
	}
	v, err := e.viewImage(ctx, stored)
	if err != nil {
		return nil, err
	}
	return &Image{Ref: ref, Digest: manifest.Digest.String(), lowerDirs: v.lowers, view: v}, nil
}

// fetchImage brings the blobs into the daemon's content store, each verified
// against its digest, and records the image under its digest: that record
// keeps it in the cache when the lease has gone.
func (e *Engine) fetchImage(ctx context.Context, source remotes.Fetcher, manifest ocispec.Descriptor) (containerd.Image, error) {
	matcher := platforms.Only(platforms.DefaultSpec())
	name := manifest.Digest.String()
	service := e.client.ImageService()
	if record, err := service.Get(ctx, name); err == nil {
		return containerd.NewImageWithPlatform(e.client, record, matcher), nil
	} else if !errdefs.IsNotFound(err) {
		return nil, fmt.Errorf("looking up image: %w", err)
	}
	store := e.client.ContentStore()
	handler := images.Handlers(
		remotes.FetchHandler(store, source),
		images.SetChildrenLabels(store, images.ChildrenHandler(store)),
	)
	if err := images.Dispatch(ctx, handler, nil, manifest); err != nil {
		return nil, fmt.Errorf("fetching blobs: %w", err)
	}
	record, err := service.Create(ctx, images.Image{Name: name, Target: manifest})
	if errdefs.IsAlreadyExists(err) { // another process of the same daemon was faster
		record, err = service.Get(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("recording image: %w", err)
	}
	return containerd.NewImageWithPlatform(e.client, record, matcher), nil
}

// leaseID is the lease of everything that this slot holds in the daemon.
func (e *Engine) leaseID() string { return "litmus-" + e.slot.name() }

// withLease puts the engine's lease, created if need be, into the context.
func (e *Engine) withLease(ctx context.Context) (context.Context, error) {
	_, err := e.client.LeasesService().Create(ctx, leases.WithID(e.leaseID()),
		leases.WithLabels(map[string]string{labelOwner: e.slot.dir}))
	if err != nil && !errdefs.IsAlreadyExists(err) {
		return nil, fmt.Errorf("creating lease: %w", err)
	}
	return leases.WithLease(ctx, e.leaseID()), nil
}

// releaseImages removes the views and the lease. The images stay in the daemon.
func (e *Engine) releaseImages(ctx context.Context) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	var errs []error
	for ref, im := range e.images {
		if err := e.removeView(ctx, im.view); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(e.images, ref)
	}
	err := e.client.LeasesService().Delete(ctx, leases.Lease{ID: e.leaseID()}, leases.SynchronousDelete)
	if err != nil && !errdefs.IsNotFound(err) {
		errs = append(errs, fmt.Errorf("deleting lease: %w", err))
	}
	return errors.Join(errs...)
}
