package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
	"litmus/internal/wire"
)

// initLayer is a directory with litmus-init at its place in a box, and the place
// for the sockets: a layer over the image's. It lies in the slot and is made
// again when the binary is another one.
//
// A mount of the binary itself would show its path on the host, and how full
// the disk is that it lies on.
func initLayer(slotDir, initPath string) (string, error) {
	info, err := os.Stat(initPath)
	if err != nil {
		return "", &MissingError{What: fmt.Sprintf("litmus-init is not at %q: %v", initPath, err), Fix: "build it beside litmus: make build"}
	}
	key := digest.Sum(fmt.Appendf(nil, "%s\x00%d\x00%d", initPath, info.Size(), info.ModTime().UnixNano()))
	parent := filepath.Join(slotDir, "init")
	layer := filepath.Join(parent, key.String())
	if _, err := os.Stat(layer); err == nil {
		return layer, nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("making layer of litmus-init: %w", err)
	}
	// Whole or not at all: boxes that start at the same time each make one.
	temporary, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return "", fmt.Errorf("making layer of litmus-init: %w", err)
	}
	if err := fillInitLayer(temporary, initPath); err != nil {
		return "", errors.Join(fmt.Errorf("making layer of litmus-init: %w", err), os.RemoveAll(temporary))
	}
	if err := os.Rename(temporary, layer); err != nil {
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTEMPTY) {
			return "", errors.Join(fmt.Errorf("making layer of litmus-init: %w", err), os.RemoveAll(temporary))
		}
		return layer, os.RemoveAll(temporary)
	}
	return layer, nil
}

func fillInitLayer(dir, initPath string) error {
	run := filepath.Join(dir, wire.SocketDir)
	if err := os.MkdirAll(run, 0o755); err != nil {
		return err
	}
	target := filepath.Join(dir, wire.InitPath)
	if err := copyFile(target, initPath); err != nil {
		return err
	}
	for _, path := range []string{target, run, filepath.Dir(run), dir} {
		if err := errors.Join(os.Chmod(path, 0o755), os.Chtimes(path, pinnedTime, pinnedTime)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to, from string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}
