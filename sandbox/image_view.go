package sandbox

import (
	"context"
	"fmt"
	"strings"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/image-spec/identity"
)

// view is a read-only snapshot of an unpacked image. All boxes of the engine
// share its layers; the snapshot is there to keep them.
type view struct {
	snapshotter string
	key         string
	lowers      []string
}

// viewImage unpacks the image if it is not yet and takes a view of it.
func (e *Engine) viewImage(ctx context.Context, im containerd.Image) (view, error) {
	snapshotter, err := e.chooseSnapshotter(ctx)
	if err != nil {
		return view{}, err
	}
	unpacked, err := im.IsUnpacked(ctx, snapshotter)
	if err != nil {
		return view{}, fmt.Errorf("looking up layers: %w", err)
	}
	if !unpacked {
		if err := im.Unpack(ctx, snapshotter); err != nil {
			return view{}, fmt.Errorf("unpacking: %w", err)
		}
	}
	diffIDs, err := im.RootFS(ctx)
	if err != nil {
		return view{}, fmt.Errorf("reading configuration: %w", err)
	}
	v := view{snapshotter: snapshotter, key: fmt.Sprintf("litmus-%s-%s", e.slot.name(), im.Name())}
	service := e.client.SnapshotService(snapshotter)
	mounts, err := service.View(ctx, v.key, identity.ChainID(diffIDs).String(),
		snapshots.WithLabels(map[string]string{labelOwner: e.slot.dir}))
	if errdefs.IsAlreadyExists(err) { // the same image by another reference
		mounts, err = service.Mounts(ctx, v.key)
	}
	if err != nil {
		return view{}, fmt.Errorf("taking a view: %w", err)
	}
	if v.lowers, err = lowersOf(mounts); err != nil {
		return view{}, err
	}
	return v, nil
}

// removeView is done when the view is gone, whoever removed it.
func (e *Engine) removeView(ctx context.Context, v view) error {
	err := e.client.SnapshotService(v.snapshotter).Remove(ctx, v.key)
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing view %s: %w", v.key, err)
	}
	return nil
}

// lowersOf reads the layers' directories out of the mounts of a read-only
// snapshot: one bind mount where there is one layer (or the snapshotter copies
// layers), else an overlay without an upper directory.
func lowersOf(mounts []mount.Mount) ([]string, error) {
	if len(mounts) != 1 {
		return nil, fmt.Errorf("a view with %d mounts can't be shared", len(mounts))
	}
	m := mounts[0]
	switch m.Type {
	case "bind":
		return []string{m.Source}, nil
	case "overlay":
		for _, option := range m.Options {
			if dirs, ok := strings.CutPrefix(option, "lowerdir="); ok {
				return strings.Split(dirs, ":"), nil
			}
		}
	}
	return nil, fmt.Errorf("a view mounted as %q with %q can't be shared", m.Type, m.Options)
}

// snapshotters are those that a view may be taken with, the preferred one first.
var snapshotters = []string{"overlayfs", "native"}

// chooseSnapshotter prefers overlayfs. The native one, which copies every
// layer, serves where the daemon's directory lies on a file system that can't
// be a layer of an overlay.
func (e *Engine) chooseSnapshotter(ctx context.Context) (string, error) {
	response, err := e.client.IntrospectionService().Plugins(ctx, `type=="io.containerd.snapshotter.v1"`)
	if err != nil {
		return "", fmt.Errorf("asking for snapshotters: %w", err)
	}
	usable := map[string]bool{}
	for _, p := range response.Plugins {
		usable[p.ID] = p.InitErr == nil
	}
	for _, name := range snapshotters {
		if usable[name] {
			return name, nil
		}
	}
	return "", fmt.Errorf("the daemon has neither the overlayfs nor the native snapshotter")
}
