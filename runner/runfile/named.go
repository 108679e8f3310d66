package runfile

import (
	"context"
	"database/sql"

	"litmus/internal/digest"
)

// named is the set of blobs that something in the file names, kept in a
// temporary table of the connection: it may have more members than fit into
// memory.
type named struct{ conn execer }

// execer is a querier that can also write: a connection or a transaction.
type execer interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// newNamed starts with what attempts name; records are added one by one.
func newNamed(ctx context.Context, conn execer) (named, error) {
	for _, statement := range []string{
		"DROP TABLE IF EXISTS temp.named",
		"CREATE TEMP TABLE named (hash BLOB PRIMARY KEY) WITHOUT ROWID",
		`INSERT OR IGNORE INTO temp.named
		 SELECT hash FROM judge_input
		 UNION SELECT request FROM exchange WHERE request IS NOT NULL
		 UNION SELECT effective FROM exchange WHERE effective IS NOT NULL
		 UNION SELECT response FROM exchange WHERE response IS NOT NULL`,
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return named{}, doing("collect named blobs", err)
		}
	}
	return named{conn}, nil
}

func (n named) add(ctx context.Context, hashes ...digest.Hash) error {
	for _, hash := range hashes {
		if _, err := n.conn.ExecContext(ctx, "INSERT OR IGNORE INTO temp.named VALUES (?)", hash[:]); err != nil {
			return doing("collect named blobs", err)
		}
	}
	return nil
}

// sweepBlobs deletes the blobs that nothing names: what attempts put that were
// killed before they could say what it was.
func sweepBlobs(ctx context.Context, tx *sql.Tx) error {
	set, err := newNamed(ctx, tx)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT instance, canonical FROM record")
	if err != nil {
		return doing("collect named blobs", err)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scanRow(rows)
		if err != nil {
			return err
		}
		if err := set.add(ctx, row.Record.blobs()...); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return doing("collect named blobs", err)
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM blob WHERE hash NOT IN (SELECT hash FROM temp.named)")
	return doing("drop blobs that nothing names", err)
}
