package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"litmus/internal/digest"
)

// Writer is a run file opened for writing, by one process at a time. It reads
// as a File does. It is safe for concurrent use; writes go one after the other,
// each on the disk before its call returns.
type Writer struct {
	*File
	path string
	held *lock
	// writes has one connection, the only one that writes.
	writes *sql.DB
}

// Resume opens the unsealed run file at path for writing. Attempts that a
// killed process left in flight become abandoned. It returns ErrSealed for a
// run that is over, and ErrLocked if a process is writing it.
func Resume(ctx context.Context, path string) (*Writer, error) {
	w, err := resume(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("resume run file %s: %w", path, err)
	}
	return w, nil
}

func resume(ctx context.Context, path string) (*Writer, error) {
	// Look first: what is no run file of ours must not be touched.
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	held, err := acquire(path)
	if err != nil {
		return nil, err
	}
	return newWriter(ctx, path, held)
}

// newWriter opens path for the holder of its lock, and releases that on failure.
func newWriter(ctx context.Context, path string, held *lock) (_ *Writer, err error) {
	w := &Writer{path: path, held: held}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.File, err = openWith(ctx, path, url.Values{"mode": {"ro"}}); err != nil {
		return nil, err
	}
	// Before anything connects for writing: that alone turns the file into one
	// with a write-ahead log beside it.
	if _, err := w.SealInfo(ctx); err == nil {
		if beside(path, "-wal") {
			err = w.tidySealed(ctx)
		}
		return nil, errors.Join(ErrSealed, err)
	} else if !errors.Is(err, ErrUnsealed) {
		return nil, err
	}
	w.writes, err = connect(path, url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
	})
	if err != nil {
		return nil, err
	}
	w.writes.SetMaxOpenConns(1)
	return w, w.write(ctx, "abandon attempts in flight", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE attempt SET state = 'abandoned' WHERE state = 'started'")
		return err
	})
}

// write runs change in a transaction that is on the disk when it returns.
func (w *Writer) write(ctx context.Context, what string, change func(*sql.Tx) error) error {
	tx, err := w.writes.BeginTx(ctx, nil)
	if err != nil {
		return doing(what, err)
	}
	if err := change(tx); err != nil {
		tx.Rollback() // what it may say follows from err
		return doing(what, err)
	}
	return doing(what, tx.Commit())
}

// PutBlob stores content and returns its hash. Until a record, an exchange or a
// judge input names it, it is kept only up to the sealing.
func (w *Writer) PutBlob(ctx context.Context, content []byte) (hash digest.Hash, err error) {
	err = w.write(ctx, "store blob", func(tx *sql.Tx) error {
		hash, err = w.codec.putBlob(ctx, tx, content)
		return err
	})
	return hash, err
}

// Close ends writing and lets the next process in. An unsealed run can be
// resumed. A second Close does nothing.
func (w *Writer) Close() error {
	err := w.disconnect()
	if w.held != nil {
		err = errors.Join(err, w.held.release())
		w.held = nil
	}
	return err
}

// disconnect closes the database and keeps the lock.
func (w *Writer) disconnect() error {
	var errs []error
	if w.File != nil {
		errs = append(errs, w.File.Close())
	}
	if w.writes != nil {
		errs = append(errs, doing("close run file", w.writes.Close()))
	}
	return errors.Join(errs...)
}
