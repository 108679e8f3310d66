package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"litmus/internal/digest"
)

// File is a run file opened for reading. It is safe for concurrent use, and
// sees what a Writer in any process has committed.
type File struct {
	// ManifestID is the BLAKE3 of the manifest, by which tokens are keyed.
	ManifestID digest.Hash
	// Instances is the number of the manifest's rows.
	Instances int64
	// Facts is what Meta said at creation.
	Facts []byte

	db    *sql.DB
	codec *codec
}

// Open opens the run file at path, sealed or not, and changes nothing: of a
// sealed one not a byte on the disk around it either.
func Open(ctx context.Context, path string) (*File, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open run file %s: %w", path, err)
	}
	return f, nil
}

func open(ctx context.Context, path string) (*File, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRunFile
	}
	// A sealed file is one file that nobody writes, so SQLite may do without
	// locks and without files beside it. Nobody may be writing it now, either.
	if !beside(path, "-wal") && !beside(path, "-lock") {
		f, err := openWith(ctx, path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
		if err == nil {
			if _, err = f.SealInfo(ctx); err == nil {
				return f, nil
			}
			f.Close()
		}
		if !errors.Is(err, ErrUnsealed) {
			return nil, err
		}
	}
	return openWith(ctx, path, url.Values{"mode": {"ro"}})
}

// beside reports whether the file with this suffix is there.
func beside(path, suffix string) bool {
	_, err := os.Lstat(path + suffix)
	return err == nil
}

func openWith(ctx context.Context, path string, params url.Values) (*File, error) {
	db, err := connect(path, params)
	if err != nil {
		return nil, err
	}
	codec, err := newCodec()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &File{db: db, codec: codec}
	if err := f.readMeta(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// connect opens the database at path. The parameters are this package's own
// constants; the path is escaped, so that no name of a file is a parameter.
func connect(path string, params url.Values) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// The file may come from anybody: no code in its schema, no trust in its
	// cells (https://www.sqlite.org/security.html).
	params["_pragma"] = append([]string{"busy_timeout(10000)", "trusted_schema(0)", "cell_size_check(1)"}, params["_pragma"]...)
	params.Set("_dqs", "0")
	source := url.URL{Scheme: "file", Path: absolute, RawQuery: params.Encode()}
	db, err := sql.Open("sqlite", source.String())
	return db, doing("open database", err)
}

func (f *File) readMeta(ctx context.Context) error {
	if err := checkSchema(ctx, f.db); err != nil {
		return err
	}
	format, err := metaValue(ctx, f.db, metaFormat)
	if err != nil {
		return err
	}
	if format != formatName {
		return damaged("meta has format %q", format)
	}
	id, err := metaValue(ctx, f.db, metaManifest)
	if err != nil {
		return err
	}
	if f.ManifestID, err = digest.Parse(id); err != nil {
		return damaged("meta has manifest %q: %v", id, err)
	}
	count, err := metaValue(ctx, f.db, metaInstances)
	if err != nil {
		return err
	}
	if f.Instances, err = strconv.ParseInt(count, 10, 64); err != nil || f.Instances < 0 {
		return damaged("meta has instances %q", count)
	}
	facts, err := metaValue(ctx, f.db, metaFacts)
	f.Facts = []byte(facts)
	return err
}

// Close ends reading. What came out of the File stays valid, iterators do not.
func (f *File) Close() error {
	f.codec.close()
	return doing("close run file", f.db.Close())
}
