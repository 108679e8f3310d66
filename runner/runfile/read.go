package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"litmus/internal/digest"
)

// Filter narrows what Records yields. The zero value lets everything through.
type Filter struct {
	Disposition Disposition
	Label       string
}

// Page is a window on rows in manifest order: those after an ordinal, at most
// Limit of them. The zero Limit is no limit; to begin, After is FirstPage.
type Page struct {
	After int64
	Limit int
}

// FirstPage is the value of Page.After before the first row.
const FirstPage int64 = -1

// Row is a record and its place in the manifest, from 0.
type Row struct {
	Ordinal int64
	Record  Record
}

// Records yields records in manifest order. It holds one at a time, and goes by
// an index, so a page costs the same wherever it is. An error ends it.
func (f *File) Records(ctx context.Context, filter Filter, page Page) iter.Seq2[Row, error] {
	query := "SELECT instance, canonical FROM record WHERE instance > ?"
	args := []any{page.After}
	if filter.Disposition != "" {
		query += " AND disposition = ?"
		args = append(args, string(filter.Disposition))
	}
	if filter.Label != "" {
		query += " AND label = ?"
		args = append(args, filter.Label)
	}
	query += " ORDER BY instance"
	if page.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, page.Limit)
	}
	return func(yield func(Row, error) bool) {
		rows, err := f.db.QueryContext(ctx, query, args...)
		if err != nil {
			yield(Row{}, doing("list records", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			row, err := scanRow(rows)
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{}, doing("list records", err))
		}
	}
}

func scanRow(rows *sql.Rows) (Row, error) {
	var row Row
	var canonical sql.RawBytes
	if err := rows.Scan(&row.Ordinal, &canonical); err != nil {
		return Row{}, doing("list records", err)
	}
	var err error
	row.Record, err = ParseRecord(canonical)
	return row, doing("list records", err)
}

// Instance is one row of the manifest and all that the file has on it.
type Instance struct {
	ID      string
	Ordinal int64
	// Record is nil while there is none.
	Record   *Record
	Attempts []AttemptInfo
}

// AttemptInfo is an attempt, looked back on.
type AttemptInfo struct {
	// ID is the key for Exchanges.
	ID    int64
	N     int
	Token digest.Hash
	// State is started, finished or abandoned.
	State string
	Cause string
	Facts []byte
	// Finished is the zero time for an attempt that did not get to its end.
	Started, Finished time.Time
	// JudgeInput is what was recorded before the judge was asked; zero if nothing was.
	JudgeInput digest.Hash
	// Won says that the record came of this attempt.
	Won bool
}

// InstanceID returns the id of the manifest's row at an ordinal, from 0, or
// ErrUnknownInstance.
func (f *File) InstanceID(ctx context.Context, ordinal int64) (string, error) {
	var id string
	err := f.db.QueryRowContext(ctx, "SELECT id FROM instance WHERE ordinal = ?", ordinal).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("row %d: %w", ordinal, ErrUnknownInstance)
	}
	return id, doing("read instance", err)
}

// Instance returns what there is on one instance, or ErrUnknownInstance.
func (f *File) Instance(ctx context.Context, id string) (Instance, error) {
	found := Instance{ID: id}
	var canonical []byte
	err := f.db.QueryRowContext(ctx,
		"SELECT ordinal, canonical FROM instance LEFT JOIN record ON record.instance = ordinal WHERE id = ?", id).
		Scan(&found.Ordinal, &canonical)
	if errors.Is(err, sql.ErrNoRows) {
		return Instance{}, fmt.Errorf("%q: %w", id, ErrUnknownInstance)
	}
	if err != nil {
		return Instance{}, doing("read instance "+id, err)
	}
	if canonical != nil {
		record, err := ParseRecord(canonical)
		if err != nil {
			return Instance{}, doing("read instance "+id, err)
		}
		found.Record = &record
	}
	found.Attempts, err = f.attempts(ctx, found.Ordinal)
	return found, doing("read instance "+id, err)
}

func (f *File) attempts(ctx context.Context, ordinal int64) ([]AttemptInfo, error) {
	rows, err := f.db.QueryContext(ctx, `
		SELECT id, n, token, state, cause, facts, started, finished, hash, record.attempt IS NOT NULL
		FROM attempt
		LEFT JOIN judge_input ON judge_input.attempt = id
		LEFT JOIN record ON record.attempt = id
		WHERE attempt.instance = ? ORDER BY n`, ordinal)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var attempts []AttemptInfo
	for rows.Next() {
		var a AttemptInfo
		var started string
		var finished sql.NullString
		if err := rows.Scan(&a.ID, &a.N, scanHash{&a.Token}, &a.State, &a.Cause, &a.Facts, &started, &finished, scanHash{&a.JudgeInput}, &a.Won); err != nil {
			return nil, err
		}
		if a.Started, err = time.Parse(time.RFC3339Nano, started); err != nil {
			return nil, damaged("attempt %d: %v", a.ID, err)
		}
		if finished.Valid {
			if a.Finished, err = time.Parse(time.RFC3339Nano, finished.String); err != nil {
				return nil, damaged("attempt %d: %v", a.ID, err)
			}
		}
		attempts = append(attempts, a)
	}
	return attempts, rows.Err()
}

// Exchanges yields the exchanges of an attempt in order, with their bytes. An
// error ends it.
func (f *File) Exchanges(ctx context.Context, attempt int64) iter.Seq2[Exchange, error] {
	return func(yield func(Exchange, error) bool) {
		rows, err := f.db.QueryContext(ctx,
			"SELECT seq, request, effective, response, meta FROM exchange WHERE attempt = ? ORDER BY seq", attempt)
		if err != nil {
			yield(Exchange{}, doing("list exchanges", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			e, err := f.scanExchange(ctx, rows)
			if !yield(e, doing("list exchanges", err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Exchange{}, doing("list exchanges", err))
		}
	}
}

func (f *File) scanExchange(ctx context.Context, rows *sql.Rows) (Exchange, error) {
	var e Exchange
	var request, effective, response digest.Hash
	if err := rows.Scan(&e.Seq, scanHash{&request}, scanHash{&effective}, scanHash{&response}, &e.Meta); err != nil {
		return Exchange{}, err
	}
	for hash, content := range map[*digest.Hash]*[]byte{&request: &e.Request, &effective: &e.Effective, &response: &e.Response} {
		if hash.IsZero() {
			continue
		}
		var err error
		if *content, err = f.Blob(ctx, *hash); err != nil {
			return Exchange{}, err
		}
	}
	return e, nil
}

// Done reports whether the instance has its record.
func (f *File) Done(ctx context.Context, instance string) (bool, error) {
	var done bool
	err := f.db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM record WHERE record.instance = ordinal) FROM instance WHERE id = ?", instance).Scan(&done)
	if errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("%q: %w", instance, ErrUnknownInstance)
	}
	return done, doing("look for record of "+instance, err)
}

// Counts is how far a run is and what has come of it so far.
type Counts struct {
	// Instances is the number of the manifest's rows: the denominator.
	Instances int64
	// Records is how many of them have a record.
	Records int64
	// Attempts counts all attempts, those without a record too.
	Attempts     int64
	Dispositions map[Disposition]int64
	// Labels counts the records that have a verdict.
	Labels map[string]int64
}

// Counts tallies the records, by index.
func (f *File) Counts(ctx context.Context) (Counts, error) {
	counts := Counts{Instances: f.Instances, Dispositions: map[Disposition]int64{}}
	byDisposition, err := f.tally(ctx, "SELECT disposition, count(*) FROM record GROUP BY disposition")
	if err != nil {
		return Counts{}, err
	}
	for name, n := range byDisposition {
		counts.Dispositions[Disposition(name)] = n
		counts.Records += n
	}
	if counts.Labels, err = f.tally(ctx, "SELECT label, count(*) FROM record WHERE label IS NOT NULL GROUP BY label"); err != nil {
		return Counts{}, err
	}
	err = f.db.QueryRowContext(ctx, "SELECT count(*) FROM attempt").Scan(&counts.Attempts)
	return counts, doing("count attempts", err)
}

// tally runs a query for names and their numbers.
func (f *File) tally(ctx context.Context, query string) (map[string]int64, error) {
	rows, err := f.db.QueryContext(ctx, query)
	if err != nil {
		return nil, doing("count records", err)
	}
	defer rows.Close()
	numbers := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, doing("count records", err)
		}
		numbers[name] = n
	}
	return numbers, doing("count records", rows.Err())
}
