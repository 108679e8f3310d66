package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"litmus/internal/digest"
)

// Hooks are the checks of a run file that take more than this package knows. A
// nil hook is left out.
type Hooks struct {
	// Manifest reads the manifest to its end, as strictly as whoever made it.
	Manifest func(io.Reader) error
	// Rejudge derives the verdict on a recorded judge input again, without
	// asking a model.
	Rejudge func(instance string, input []byte) (Verdict, error)
}

// Finding is one thing that is not as it must be.
type Finding struct {
	// Where is a table and a key in it, or "record" and an instance id.
	Where string
	Msg   string
}

func (f Finding) String() string { return f.Where + ": " + f.Msg }

// Report is what Verify looked at and what it found.
type Report struct {
	Seal Seal
	// Rejudged counts the verdicts that were derived again and came out equal.
	Instances, Records, Attempts, Blobs, Rejudged int64
	// Findings is empty for a file that is as it was sealed.
	Findings []Finding
}

// Verify recomputes all that a sealed run file says about itself and reports
// every contradiction. An error means that there was nothing to report on: no
// run file (ErrNotRunFile), of another format (ErrVersion), not sealed
// (ErrUnsealed), so damaged that it can't be opened (ErrDamaged), or ctx ended.
//
// What it can't see is a file that was made up as a whole, consistently. For
// that, compare the root with one that was published.
func Verify(ctx context.Context, path string, hooks Hooks) (Report, error) {
	report, err := verify(ctx, path, hooks)
	if err != nil {
		return report, fmt.Errorf("verify %s: %w", path, err)
	}
	return report, nil
}

func verify(ctx context.Context, path string, hooks Hooks) (_ Report, err error) {
	f, err := open(ctx, path)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	seal, err := f.SealInfo(ctx)
	if err != nil {
		return Report{}, err
	}
	// One connection, because its temporary table is used on the way.
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return Report{}, doing("connect", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	v := &verifier{File: f, conn: conn, hooks: hooks, bad: map[digest.Hash]error{}, report: Report{Seal: seal}}
	for _, step := range []struct {
		table string
		run   func(context.Context) error
	}{
		{"database", v.database},
		{"meta", v.meta},
		{"manifest", v.manifest},
		{"blob", v.blobs},
		{"attempt", v.attempts},
		{"exchange", v.exchanges},
		{"record", v.records},
		{"blob", v.unnamedBlobs},
		{"seal", v.seal},
	} {
		err := step.run(ctx)
		if ctx.Err() != nil {
			return v.report, ctx.Err()
		}
		// A table that can't be read to its end is a finding like any other:
		// the next one may still have something to say.
		if err != nil {
			v.find(step.table, "%v", err)
			v.unreadable = true
		}
	}
	return v.report, nil
}

// verifier carries what one step finds out for the next.
type verifier struct {
	*File
	conn   *sql.Conn
	hooks  Hooks
	named  named
	tree   merkle
	report Report
	// bad holds the blobs that are there but not what their hash says.
	bad map[digest.Hash]error
	// unreadable says that something that may name blobs could not be read.
	unreadable bool
}

func (v *verifier) find(where, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{where, fmt.Sprintf(format, args...)})
}

// database lets SQLite look over its own structure: pages, indexes, types,
// constraints, and rows that refer to rows that are not there.
func (v *verifier) database(ctx context.Context) error {
	err := each(ctx, v.conn, "PRAGMA integrity_check", func(s scanner) error {
		var message string
		if err := s.Scan(&message); err != nil {
			return err
		}
		if message != "ok" {
			v.find("database", "%s", message)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(ctx, v.conn, "PRAGMA foreign_key_check", func(s scanner) error {
		var table, parent string
		var rowid, key sql.NullInt64
		if err := s.Scan(&table, &rowid, &parent, &key); err != nil {
			return err
		}
		v.find(table, "row %d refers to a row of %s that is not there", rowid.Int64, parent)
		return nil
	})
}

// meta looks for keys that are not of the format; the values are held against
// the manifest and the seal.
func (v *verifier) meta(ctx context.Context) error {
	if err := checkFacts(v.Facts); err != nil {
		v.find("meta", "%v", err)
	}
	return each(ctx, v.conn, "SELECT key FROM meta ORDER BY key", func(s scanner) error {
		var key string
		if err := s.Scan(&key); err != nil {
			return err
		}
		if !slices.Contains(metaKeys, key) {
			v.find("meta", "%q is no key of it", key)
		}
		return nil
	})
}

// blobs compares every content with its hash.
func (v *verifier) blobs(ctx context.Context) error {
	return each(ctx, v.conn, "SELECT hash, size, zstd FROM blob ORDER BY hash", func(s scanner) error {
		var hash digest.Hash
		var size int64
		var packed sql.RawBytes
		if err := s.Scan(scanHash{&hash}, &size, &packed); err != nil {
			return err
		}
		v.report.Blobs++
		content, err := v.codec.unpack(packed, size)
		if err == nil && digest.Sum(content) != hash {
			err = damaged("its content has another hash")
		}
		if err != nil {
			v.bad[hash] = err
			v.find("blob "+hash.String(), "%v", err)
		}
		return nil
	})
}

// unnamedBlobs looks for contents that belong to nothing. What can't be read
// can't name its own, so it would follow from any damage there.
func (v *verifier) unnamedBlobs(ctx context.Context) error {
	if v.unreadable {
		return nil
	}
	return each(ctx, v.conn, "SELECT hash FROM blob WHERE hash NOT IN (SELECT hash FROM temp.named)", func(s scanner) error {
		var hash digest.Hash
		if err := s.Scan(scanHash{&hash}); err != nil {
			return err
		}
		v.find("blob "+hash.String(), "nothing names it")
		return nil
	})
}

// lookAt finds fault with a blob that something names.
func (v *verifier) lookAt(ctx context.Context, where, what string, hash digest.Hash) error {
	if err := v.bad[hash]; err != nil {
		v.find(where, "%s: blob %s: %v", what, hash, err)
		return nil
	}
	var there bool
	if err := v.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM blob WHERE hash = ?)", hash[:]).Scan(&there); err != nil {
		return err
	}
	if !there {
		v.find(where, "%s: blob %s is not there", what, hash)
	}
	return nil
}

// seal compares the seal with what was recomputed.
func (v *verifier) seal(ctx context.Context) error {
	seal := v.report.Seal
	if seal.Format != formatName {
		v.find("seal", "format is %q, not %q", seal.Format, formatName)
	}
	if seal.Manifest != v.ManifestID {
		v.find("seal", "manifest is %s, that of the file is %s", seal.Manifest, v.ManifestID)
	}
	if seal.Records != int64(v.tree.count) {
		v.find("seal", "records is %d, there are %d", seal.Records, v.tree.count)
	}
	if root := v.tree.root(); seal.Root != root {
		v.find("seal", "root is %s, that of the records is %s", seal.Root, root)
	}
	facts, err := hashFacts(ctx, v.conn, v.Facts)
	if err != nil {
		return err
	}
	if seal.Facts != facts {
		v.find("seal", "facts is %s, that of attempts, exchanges, judge inputs and meta is %s", seal.Facts, facts)
	}
	return nil
}

// each calls row for every row of a query.
func each(ctx context.Context, q querier, query string, row func(scanner) error) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return doing("query", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return doing("query", rows.Err())
}
