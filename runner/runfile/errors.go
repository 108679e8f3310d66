package runfile

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The ways in which a file can be the wrong one to ask.
var (
	// ErrNotRunFile is for a file that is no run file of litmus at all.
	ErrNotRunFile = errors.New("not a litmus run file")
	// ErrVersion is for a run file of a format that this program does not know.
	ErrVersion = errors.New("run file of another format version")
	// ErrDamaged is for a run file whose bytes contradict themselves.
	ErrDamaged = errors.New("run file is damaged")
	// ErrUnsealed is for a question that only a sealed run can answer.
	ErrUnsealed = errors.New("run file is not sealed")
	// ErrSealed is for writing to a run that is over.
	ErrSealed = errors.New("run file is sealed")
	// ErrLocked is for a run file that a process is writing already.
	ErrLocked = errors.New("run file is in use by another process")
)

// The ways in which a call can be the wrong one to make.
var (
	// ErrNotScorable is for a SCORED record that lacks a scoring input, or whose
	// inputs are not the ones on file.
	ErrNotScorable = errors.New("not scorable")
	// ErrCommitted is for an instance that has its record already.
	ErrCommitted = errors.New("instance has a record already")
	// ErrInFlight is for an instance with an attempt that has not ended.
	ErrInFlight = errors.New("instance has an attempt in flight")
	// ErrUnknownInstance is for an id that the manifest does not have.
	ErrUnknownInstance = errors.New("no such instance in the manifest")
	// ErrNoBlob is for a hash that no blob of the file has.
	ErrNoBlob = errors.New("no such blob")
	// ErrIncomplete is for sealing while a row of the manifest has no record.
	ErrIncomplete = errors.New("run is incomplete")
)

// doing wraps err with what was being done and with the sentinel that a caller
// can act on. A nil err stays nil.
func doing(what string, err error) error {
	if err == nil {
		return nil
	}
	var engine *sqlite.Error
	if errors.As(err, &engine) {
		// The low byte is the primary result code, the rest its refinement.
		switch engine.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB:
			err = fmt.Errorf("%w: %w", ErrNotRunFile, err)
		// The generic error too: the statements are constants that fit the
		// schema, so if one makes no sense, then on what the file holds.
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR:
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		case sqlite3.SQLITE_FULL:
			err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
		case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			err = fmt.Errorf("%w (is the disk full or read-only?): %w", syscall.EIO, err)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isBusy reports whether the engine gave way to another connection.
func isBusy(err error) bool {
	var engine *sqlite.Error
	return errors.As(err, &engine) && engine.Code()&0xff == sqlite3.SQLITE_BUSY
}

// damaged is an ErrDamaged with a message.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
