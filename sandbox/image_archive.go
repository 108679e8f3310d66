package sandbox

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/containerd/errdefs"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// archiveImage is an OCI image layout in an uncompressed tar file, as buildah,
// skopeo and "docker buildx" write it.
type archiveImage struct {
	file  *os.File
	files map[string]*io.SectionReader // content by cleaned path
}

// openArchive reads the table of contents of the archive. Its file stays open
// until Close.
func openArchive(name string) (_ *archiveImage, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening image archive: %w", err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	files, err := indexTar(file)
	if err != nil {
		return nil, fmt.Errorf("reading image archive %s: %w", name, err)
	}
	if files[ocispec.ImageIndexFile] == nil || files[ocispec.ImageLayoutFile] == nil {
		return nil, &MissingError{
			What: fmt.Sprintf("%s is not an OCI image archive: it has no %s with %s",
				name, ocispec.ImageIndexFile, ocispec.ImageLayoutFile),
			Fix: "make one with: skopeo copy docker-archive:IMAGE.tar oci-archive:" + name,
		}
	}
	return &archiveImage{file, files}, nil
}

// indexTar finds where in the file the content of each regular file lies.
func indexTar(file io.ReadSeeker) (map[string]*io.SectionReader, error) {
	at, ok := file.(io.ReaderAt)
	if !ok {
		return nil, errors.New("not a file that can be read at any place")
	}
	files := map[string]*io.SectionReader{}
	r := tar.NewReader(file)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		// The tar reader reads no further than the header.
		offset, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		files[path.Clean(header.Name)] = io.NewSectionReader(at, offset, header.Size)
	}
}

func (im *archiveImage) resolve(ctx context.Context) (ocispec.Descriptor, error) {
	section := im.files[ocispec.ImageIndexFile]
	if section.Size() > maxManifest {
		return ocispec.Descriptor{}, fmt.Errorf("%s has more than %d bytes", ocispec.ImageIndexFile, maxManifest)
	}
	index := make([]byte, section.Size())
	if _, err := section.ReadAt(index, 0); err != nil && !errors.Is(err, io.EOF) {
		return ocispec.Descriptor{}, fmt.Errorf("reading %s: %w", ocispec.ImageIndexFile, err)
	}
	if err := onlyOneImage(index); err != nil {
		return ocispec.Descriptor{}, err
	}
	desc, err := chooseManifest(index)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return platformManifest(ctx, im, desc)
}

// onlyOneImage refuses an archive with several named images: which one is
// meant would depend on their order.
func onlyOneImage(index []byte) error {
	var parsed ocispec.Index
	if err := json.Unmarshal(index, &parsed); err != nil {
		return fmt.Errorf("reading %s: %w", ocispec.ImageIndexFile, err)
	}
	names := map[string]bool{}
	for _, m := range parsed.Manifests {
		names[m.Annotations[ocispec.AnnotationRefName]] = true
	}
	if len(names) > 1 {
		return fmt.Errorf("it holds %d images; make one archive for each", len(names))
	}
	return nil
}

// Fetch implements remotes.Fetcher.
func (im *archiveImage) Fetch(_ context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
	section, ok := im.files[path.Join(ocispec.ImageBlobsDir, desc.Digest.Algorithm().String(), desc.Digest.Encoded())]
	if !ok {
		return nil, fmt.Errorf("blob %s of image archive: %w", desc.Digest, errdefs.ErrNotFound)
	}
	return io.NopCloser(io.NewSectionReader(section, 0, section.Size())), nil
}

// Close closes the archive's file.
func (im *archiveImage) Close() error { return im.file.Close() }
