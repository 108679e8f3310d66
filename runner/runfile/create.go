package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Meta is what a new run file says about itself beside the manifest.
type Meta struct {
	// Facts is a canonical JSON object with facts of the host and the program,
	// none of them re-derivable. Nil stands for {}.
	Facts []byte
}

// Create makes a run file at path around a manifest, which it reads to the end,
// and opens it for writing. It refuses a path where there is anything already
// (fs.ErrExist) and one that is being written (ErrLocked). The file appears at
// path whole or not at all.
func Create(ctx context.Context, path string, manifest io.Reader, meta Meta) (*Writer, error) {
	w, err := create(ctx, path, manifest, meta)
	if err != nil {
		return nil, fmt.Errorf("create run file %s: %w", path, err)
	}
	return w, nil
}

func create(ctx context.Context, path string, manifest io.Reader, meta Meta) (*Writer, error) {
	if meta.Facts == nil {
		meta.Facts = []byte("{}")
	}
	if err := checkFacts(meta.Facts); err != nil {
		return nil, err
	}
	held, err := acquire(path)
	if err != nil {
		return nil, err
	}
	if err := install(ctx, path, manifest, meta); err != nil {
		return nil, errors.Join(err, held.release())
	}
	return newWriter(ctx, path, held)
}

// install builds the file under another name and moves it to path once it is
// whole and on the disk. It needs the lock: that is what makes looking whether
// something is at path, and the fixed name of the half-made file, safe.
func install(ctx context.Context, path string, manifest io.Reader, meta Meta) error {
	if beside(path, "") {
		return fs.ErrExist
	}
	half := path + "-new"
	if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what a killed process left: %w", err)
	}
	err := build(ctx, half, manifest, meta)
	if err == nil {
		err = syncPath(half)
	}
	if err == nil {
		err = os.Rename(half, path)
	}
	if err != nil {
		os.Remove(half) // the error that counts is the one before
		return err
	}
	return syncPath(filepath.Dir(path))
}

// build writes a new database in one transaction. There is no journal, since a
// file that is not finished is thrown away.
func build(ctx context.Context, path string, manifest io.Reader, meta Meta) (err error) {
	db, err := connect(path, url.Values{"_pragma": {"journal_mode(OFF)", "synchronous(OFF)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return doing("begin", err)
	}
	defer tx.Rollback() // does nothing after Commit
	if err := createSchema(ctx, tx); err != nil {
		return err
	}
	loaded, err := loadManifest(ctx, tx, manifest)
	if err != nil {
		return err
	}
	for key, value := range map[string]string{
		metaFormat:       formatName,
		metaManifest:     loaded.id.String(),
		metaManifestSize: strconv.FormatInt(loaded.size, 10),
		metaInstances:    strconv.FormatInt(loaded.instances, 10),
		metaFacts:        string(meta.Facts),
	} {
		if _, err := tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES (?, ?)", key, value); err != nil {
			return doing("write meta", err)
		}
	}
	return doing("commit", tx.Commit())
}

type loadedManifest struct {
	id              digest.Hash
	size, instances int64
}

// loadManifest stores the manifest and indexes its lines, in one pass.
func loadManifest(ctx context.Context, tx *sql.Tx, manifest io.Reader) (loadedManifest, error) {
	var none loadedManifest
	codec, err := newCodec()
	if err != nil {
		return none, err
	}
	defer codec.close()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO manifest (chunk, size, zstd) VALUES (?, ?, ?)")
	if err != nil {
		return none, doing("store manifest", err)
	}
	defer insert.Close()

	chunks := &chunkWriter{ctx: ctx, insert: insert, codec: codec}
	hash := digest.NewWriter()
	count, err := indexManifest(ctx, tx, io.TeeReader(manifest, io.MultiWriter(hash, chunks)))
	if err != nil {
		return none, err
	}
	if err := chunks.flush(); err != nil {
		return none, err
	}
	return loadedManifest{hash.Sum(), hash.Len(), count}, nil
}

// indexManifest reads the manifest to its end and notes where each row lies.
func indexManifest(ctx context.Context, tx *sql.Tx, manifest io.Reader) (int64, error) {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO instance (ordinal, id, offset, length) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING")
	if err != nil {
		return 0, doing("index manifest", err)
	}
	defer insert.Close()

	lines := newLines(manifest)
	first, err := lines.next()
	if errors.Is(err, io.EOF) {
		return 0, errors.New("the manifest is empty")
	}
	if err != nil {
		return 0, err
	}
	header, err := parseHeader(first)
	if err != nil {
		return 0, err
	}
	for ordinal := int64(0); ; ordinal++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			if ordinal != header.Counts.Instances {
				return 0, fmt.Errorf("manifest: %d rows, but its header says %d", ordinal, header.Counts.Instances)
			}
			return ordinal, nil
		}
		if err != nil {
			return 0, err
		}
		r, err := parseRow(line)
		if err != nil {
			return 0, fmt.Errorf("manifest line %d: %w", lines.number, err)
		}
		result, err := insert.ExecContext(ctx, ordinal, r.ID, lines.offset, lines.length)
		if err != nil {
			return 0, doing("index manifest", err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return 0, fmt.Errorf("manifest line %d: instance %s is there already", lines.number, r.ID)
		}
	}
}

// checkFacts holds that facts are what can be hashed and read again: an object
// in canonical JSON.
func checkFacts(facts []byte) error {
	if err := canon.Check(facts); err != nil {
		return fmt.Errorf("facts: %w", err)
	}
	if facts[0] != '{' {
		return errors.New("facts: not a JSON object")
	}
	return nil
}

// syncPath makes a file, or the entries of a directory, outlive a power cut.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
