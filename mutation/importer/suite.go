package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"litmus/internal/inputerror"
	"litmus/mutation"
)

// suiteFile is one file of a suite directory.
type suiteFile struct {
	content []byte
	mode    fs.FileMode
}

// suiteFiles maps slash-separated paths inside the suite to files.
type suiteFiles map[string]suiteFile

// write puts the files into the directory out, which must not exist or be empty.
// They are written beside it and moved there at the end, so that out is a whole
// suite or what it was before.
func (files suiteFiles) write(out string) error {
	if err := mustBeFree(out); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("making the parent of the suite: %w", err)
	}
	unfinished, err := os.MkdirTemp(parent, ".litmus-import-")
	if err != nil {
		return fmt.Errorf("making a place for the suite: %w", err)
	}
	if err := files.writeInto(unfinished); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	// A suite that does not load is never shown to anyone.
	if _, err := mutation.Load(unfinished); err != nil {
		return errors.Join(fmt.Errorf("loading the suite that was made: %w", err), os.RemoveAll(unfinished))
	}
	// rename(2) takes the place of an empty directory, and of no other; os.Rename
	// refuses that one too.
	if err := unix.Rename(unfinished, out); err != nil {
		return errors.Join(fmt.Errorf("moving the suite into place: %w", err), os.RemoveAll(unfinished))
	}
	return nil
}

func mustBeFree(out string) error {
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at where the suite goes: %w", err)
	case len(entries) > 0:
		return &inputerror.Error{File: out, Msg: "it exists and is not empty", Fix: "name another directory, or remove this one first"}
	}
	return nil
}

func (files suiteFiles) writeInto(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, path := files[name], filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("writing the suite: %w", err)
		}
		if err := os.WriteFile(path, file.content, file.mode); err != nil {
			return fmt.Errorf("writing the suite: %w", err)
		}
		// What WriteFile makes of the mode depends on the umask.
		if err := os.Chmod(path, file.mode); err != nil {
			return fmt.Errorf("writing the suite: %w", err)
		}
	}
	// MkdirTemp's own mode is for one user only.
	return os.Chmod(dir, 0o755)
}
