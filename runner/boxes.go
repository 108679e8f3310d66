package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"litmus/mutation"
	"litmus/sandbox"
)

// boxes is the engine of one run with the image that its manifest names.
type boxes struct {
	engine *sandbox.Engine
	image  *sandbox.Image
}

// openBoxes starts the engine and gets the image. An image that is not the one
// the manifest was made for would be another instrument: it is refused.
func openBoxes(ctx context.Context, b Boxes, env mutation.EnvironmentPin, dir string) (_ *boxes, err error) {
	engine, err := sandbox.Open(ctx, b.config())
	if err != nil {
		return nil, fmt.Errorf("open boxes: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, engine.Close())
		}
	}()
	ref := imageRef(env.Image, dir)
	image, err := engine.Image(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", ref, err)
	}
	if image.Digest != env.Digest {
		return nil, badInput("materialize the suite anew, or bring the image back",
			"image %s is %s, and the manifest was made for %s", ref, image.Digest, env.Digest)
	}
	return &boxes{engine, image}, nil
}

func (b *boxes) close() error {
	if b == nil {
		return nil
	}
	return b.engine.Close()
}

// imageRef reads a relative oci-archive: path as relative to the suite or
// manifest that names it.
func imageRef(ref, dir string) string {
	archive, ok := strings.CutPrefix(ref, "oci-archive:")
	if !ok || filepath.IsAbs(archive) {
		return ref
	}
	return "oci-archive:" + filepath.Join(dir, archive)
}

// sourceDir is the directory that relative names in a source are relative to.
func sourceDir(path string) string {
	if isDir(path) {
		return path
	}
	return filepath.Dir(path)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Doctor says what this machine lacks for making boxes.
func Doctor(ctx context.Context, b Boxes) []sandbox.Finding {
	return sandbox.Doctor(ctx, b.config())
}

// GC removes what killed runs left behind.
func GC(ctx context.Context, b Boxes) (_ sandbox.Reclaimed, err error) {
	engine, err := sandbox.Open(ctx, b.config())
	if err != nil {
		return sandbox.Reclaimed{}, fmt.Errorf("open boxes: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	return engine.Reclaim(ctx)
}
