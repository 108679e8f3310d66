package sandbox

import (
	"context"

	"github.com/containerd/containerd/api/types/runc/options"
	containerd "github.com/containerd/containerd/v2/client"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// What tests outside of the package may reach.

func (e *Engine) Client() *containerd.Client       { return e.client }
func (e *Engine) BoxesDir() string                 { return e.boxesDir() }
func (e *Engine) SlotDir() string                  { return e.slot.dir }
func (e *Engine) RunDir() string                   { return e.slot.runDir }
func (e *Engine) CgroupPath(id string) string      { return e.cgroupPath(id) }
func (e *Engine) RuntimeName() string              { return e.runtimeName() }
func (e *Engine) RuntimeOptions() *options.Options { return e.runtimeOptions() }
func (e *Engine) Labels() map[string]string        { return e.labels("run", "token") }
func (im *Image) Lowers() []string                 { return im.lowers() }

// BuiltinImage returns the descriptor of the builtin image's manifest and all of its blobs.
func BuiltinImage(ctx context.Context) (ocispec.Descriptor, map[digest.Digest][]byte, error) {
	im, err := newBuiltinImage(ctx)
	if err != nil {
		return ocispec.Descriptor{}, nil, err
	}
	return im.manifest, im.blobs, nil
}

var (
	ParseApplets = parseApplets
	IsStatic     = isStatic
	LowersOf     = lowersOf
	ParseOwners  = parseOwners
)
