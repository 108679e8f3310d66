package sandbox

import "context"

// Image is a root file system that boxes start from, unpacked and held by the
// engine until it is closed.
type Image struct {
	// Ref is the reference as it was given to Engine.Image.
	Ref string
	// Digest is the digest of the image's manifest for this platform, "sha256:…".
	Digest string

	lowerDirs []string
}

// lowers are the directories of the image's layers, topmost first, as
// overlayfs takes them. Nothing may write to them.
func (im *Image) lowers() []string { return im.lowerDirs }

// Image resolves, fetches and unpacks an image: "builtin", "oci-archive:PATH"
// or a registry reference. Asking for one again is free.
func (e *Engine) Image(ctx context.Context, ref string) (*Image, error) {
	panic("sandbox: Image is not there yet")
}

func (e *Engine) releaseImages(ctx context.Context) error { return nil }
