package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

const (
	// applicationID marks the SQLite file as ours: "LTMS".
	applicationID = 0x4c544d53
	// formatVersion is PRAGMA user_version; it counts incompatible changes.
	formatVersion = 1
	// formatName stands in the meta table and in the seal.
	formatName = "litmus-run/1"
)

// schema is format version 1, object by object, in order of creation. A file
// whose schema differs from this text by a byte is refused: a view or trigger
// that somebody slipped in could make a query say anything.
//
// record.disposition and record.label are computed from the canonical record,
// so that the index that lists go by can't say something else than the record.
var schema = []struct{ name, sql string }{
	{"meta", `CREATE TABLE meta (
	key TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
) STRICT`},
	{"manifest", `CREATE TABLE manifest (
	chunk INTEGER PRIMARY KEY,
	size INTEGER NOT NULL,
	zstd BLOB NOT NULL
) STRICT`},
	{"instance", `CREATE TABLE instance (
	ordinal INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	offset INTEGER NOT NULL,
	length INTEGER NOT NULL
) STRICT`},
	{"attempt", `CREATE TABLE attempt (
	id INTEGER PRIMARY KEY,
	instance INTEGER NOT NULL REFERENCES instance (ordinal),
	n INTEGER NOT NULL,
	token BLOB NOT NULL CHECK (length(token) = 32),
	state TEXT NOT NULL CHECK (state IN ('started', 'finished', 'abandoned')),
	cause TEXT NOT NULL DEFAULT '',
	facts TEXT,
	started TEXT NOT NULL,
	finished TEXT,
	UNIQUE (instance, n)
) STRICT`},
	{"exchange", `CREATE TABLE exchange (
	attempt INTEGER NOT NULL REFERENCES attempt (id),
	seq INTEGER NOT NULL,
	request BLOB,
	effective BLOB,
	response BLOB,
	meta TEXT NOT NULL,
	PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID`},
	{"judge_input", `CREATE TABLE judge_input (
	attempt INTEGER PRIMARY KEY REFERENCES attempt (id),
	hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT`},
	{"record", `CREATE TABLE record (
	instance INTEGER PRIMARY KEY REFERENCES instance (ordinal),
	canonical TEXT NOT NULL,
	attempt INTEGER UNIQUE REFERENCES attempt (id),
	disposition TEXT NOT NULL AS (canonical ->> '$.disposition') VIRTUAL,
	label TEXT AS (canonical ->> '$.verdict.label') VIRTUAL
) STRICT`},
	{"record_by_disposition", `CREATE INDEX record_by_disposition ON record (disposition)`},
	{"record_by_label", `CREATE INDEX record_by_label ON record (label)`},
	{"blob", `CREATE TABLE blob (
	hash BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
	size INTEGER NOT NULL,
	zstd BLOB NOT NULL
) STRICT`},
	{"seal", `CREATE TABLE seal (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	canonical TEXT NOT NULL
) STRICT`},
}

// The keys of the meta table.
const (
	metaFormat       = "format"
	metaManifest     = "manifest"
	metaManifestSize = "manifest_size"
	metaInstances    = "instances"
	metaFacts        = "facts"
)

var metaKeys = []string{metaFormat, metaManifest, metaManifestSize, metaInstances, metaFacts}

func createSchema(ctx context.Context, tx *sql.Tx) error {
	for _, object := range schema {
		if _, err := tx.ExecContext(ctx, object.sql); err != nil {
			return doing("create "+object.name, err)
		}
	}
	// PRAGMA takes no bound parameters; these two are constants.
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, formatVersion))
	return doing("mark the file", err)
}

// checkSchema finds out whether the database is a run file of this version, and
// has exactly the tables and indexes of it.
func checkSchema(ctx context.Context, q querier) error {
	var id, version int64
	if err := q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return doing("read application id", err)
	}
	if id != applicationID {
		return ErrNotRunFile
	}
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return doing("read format version", err)
	}
	if version != formatVersion {
		return fmt.Errorf("%w: it has version %d, this program knows %d", ErrVersion, version, formatVersion)
	}

	rows, err := q.QueryContext(ctx, "SELECT name, sql FROM sqlite_schema ORDER BY rowid")
	if err != nil {
		return doing("read schema", err)
	}
	defer rows.Close()
	next := 0
	for rows.Next() {
		var name string
		var text sql.NullString
		if err := rows.Scan(&name, &text); err != nil {
			return doing("read schema", err)
		}
		if !text.Valid && strings.HasPrefix(name, "sqlite_autoindex_") {
			continue // the index behind a UNIQUE or PRIMARY KEY
		}
		if next == len(schema) || schema[next].name != name || schema[next].sql != text.String {
			return damaged("%q is not part of the schema of version %d", name, formatVersion)
		}
		next++
	}
	if err := rows.Err(); err != nil {
		return doing("read schema", err)
	}
	if next < len(schema) {
		return damaged("%q is missing", schema[next].name)
	}
	return nil
}

// querier is what reading needs of a database, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// metaValue reads one key of the meta table.
func metaValue(ctx context.Context, q querier, key string) (string, error) {
	var value string
	err := q.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", damaged("meta has no %q", key)
	}
	return value, doing("read meta "+key, err)
}
