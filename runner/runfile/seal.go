package runfile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Seal is the last thing written to a run file.
type Seal struct {
	Format string `json:"format"`
	// Manifest is the id of the manifest.
	Manifest digest.Hash `json:"manifest"`
	// Root is the Merkle root over the records in manifest order. Two runs
	// with the same root came to the same result in every instance.
	Root    digest.Hash `json:"root"`
	Records int64       `json:"records"`
	// Facts is the hash over all that can't be derived again.
	Facts digest.Hash `json:"facts"`
}

// SealOptions says what a sealed run may lack.
type SealOptions struct {
	// Selection reports whether the instance at an ordinal was to run. One that was not gets
	// a NOT_RUN record. Nil selects all.
	Selection func(ordinal int64) bool
}

// NotSelected is the reason of a NOT_RUN record for a row outside the selection.
const NotSelected = "not-selected"

// SealInfo returns the seal, or ErrUnsealed.
func (f *File) SealInfo(ctx context.Context) (Seal, error) { return readSeal(ctx, f.db) }

// CheckSeal computes the root over the records, the manifest's id and the hash
// of the facts anew, and returns ErrDamaged if one of them is not the sealed one.
// It is the part of Verify that whoever uses the records must not do without; it
// reads no blob and judges nothing again.
func (f *File) CheckSeal(ctx context.Context) error {
	seal, err := f.SealInfo(ctx)
	if err != nil {
		return err
	}
	tree, err := recordTree(ctx, f.db)
	if err != nil {
		return doing("read records", err)
	}
	if seal.Root != tree.root() || seal.Records != int64(tree.count) || seal.Records != f.Instances {
		return damaged("its records are not the ones that were sealed; see litmus verify")
	}
	id := digest.NewWriter()
	if _, err := io.Copy(id, f.Manifest(ctx)); err != nil {
		return err
	}
	if id.Sum() != seal.Manifest || f.ManifestID != seal.Manifest {
		return damaged("its manifest is not the one that was sealed; see litmus verify")
	}
	facts, err := hashFacts(ctx, f.db, f.Facts)
	if err != nil {
		return err
	}
	if facts != seal.Facts {
		return damaged("its attempts or other facts are not those that were sealed; see litmus verify")
	}
	return nil
}

func readSeal(ctx context.Context, q querier) (Seal, error) {
	var canonical []byte
	err := q.QueryRowContext(ctx, "SELECT canonical FROM seal").Scan(&canonical)
	if errors.Is(err, sql.ErrNoRows) {
		return Seal{}, ErrUnsealed
	}
	if err != nil {
		return Seal{}, doing("read seal", err)
	}
	return parseSeal(canonical)
}

func parseSeal(canonical []byte) (Seal, error) {
	var s Seal
	if err := json.Unmarshal(canonical, &s, json.RejectUnknownMembers(true)); err != nil {
		return Seal{}, damaged("seal: %v", err)
	}
	again, err := canon.Marshal(s)
	if err != nil || !bytes.Equal(again, canonical) {
		return Seal{}, damaged("seal: not in canonical form")
	}
	return s, nil
}

// Seal ends the run: it gives rows outside the selection their record, drops
// blobs that nothing names, writes the seal, and leaves one single file. It
// returns ErrIncomplete while a selected row has no record, ErrInFlight while an
// attempt has not ended. After success the Writer is closed. An error that is
// neither may come after the seal is on the disk; then Resume says ErrSealed.
// Whoever has the file open meanwhile goes on reading, and makes an empty log
// stay beside it.
func (w *Writer) Seal(ctx context.Context, options SealOptions) (Seal, error) {
	var seal Seal
	err := w.write(ctx, "seal", func(tx *sql.Tx) (err error) {
		seal, err = w.seal(ctx, tx, options)
		return err
	})
	if err != nil {
		return Seal{}, err
	}
	if err := w.tidySealed(ctx); err != nil {
		return Seal{}, err
	}
	return seal, w.Close()
}

func (w *Writer) seal(ctx context.Context, tx *sql.Tx, options SealOptions) (Seal, error) {
	var inFlight int64
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM attempt WHERE state = 'started'").Scan(&inFlight); err != nil {
		return Seal{}, err
	}
	if inFlight > 0 {
		return Seal{}, fmt.Errorf("%w: %d of them", ErrInFlight, inFlight)
	}
	if err := w.fill(ctx, tx, options); err != nil {
		return Seal{}, err
	}
	if err := sweepBlobs(ctx, tx); err != nil {
		return Seal{}, err
	}
	tree, err := recordTree(ctx, tx)
	if err != nil {
		return Seal{}, err
	}
	facts, err := hashFacts(ctx, tx, w.Facts)
	if err != nil {
		return Seal{}, err
	}
	seal := Seal{Format: formatName, Manifest: w.ManifestID, Root: tree.root(), Records: int64(tree.count), Facts: facts}
	canonical, err := canon.Marshal(seal)
	if err != nil {
		return Seal{}, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO seal (id, canonical) VALUES (1, ?)", string(canonical))
	return seal, err
}

// fill writes NOT_RUN records for rows outside the selection, and refuses if a
// row inside it has none.
func (w *Writer) fill(ctx context.Context, tx *sql.Tx, options SealOptions) error {
	manifest := &lineReader{q: w.db, codec: w.codec}
	var missing int64
	var first string
	for next, err := firstWithout(ctx, tx, 0); ; next, err = firstWithout(ctx, tx, next.ordinal+1) {
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return err
		}
		if options.Selection != nil && !options.Selection(next.ordinal) {
			if err := w.notRun(ctx, tx, manifest, next); err != nil {
				return err
			}
			continue
		}
		if missing++; missing == 1 {
			first = next.id
		}
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d instances have no record, the first is %s", ErrIncomplete, missing, first)
	}
	return nil
}

// place is a row of the instance table.
type place struct {
	ordinal        int64
	id             string
	offset, length int64
}

// firstWithout finds the first row from an ordinal on that has no record.
func firstWithout(ctx context.Context, q querier, from int64) (p place, err error) {
	err = q.QueryRowContext(ctx, `
		SELECT ordinal, id, offset, length FROM instance
		WHERE ordinal >= ? AND NOT EXISTS (SELECT 1 FROM record WHERE record.instance = ordinal)
		ORDER BY ordinal LIMIT 1`, from).Scan(&p.ordinal, &p.id, &p.offset, &p.length)
	return p, err
}

func (w *Writer) notRun(ctx context.Context, tx *sql.Tx, manifest *lineReader, p place) error {
	line, err := manifest.read(ctx, p.offset, p.length)
	if err != nil {
		return err
	}
	row, err := parseRow(line)
	if err != nil {
		return damaged("manifest line of %s: %v", p.id, err)
	}
	r, err := NewUnscored(Record{Instance: p.id, MutationHash: row.MutationHash, Token: Token(w.ManifestID, p.id)}, NotRun, NotSelected)
	if err != nil {
		return err
	}
	canonical, err := r.Canonical()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO record (instance, canonical) VALUES (?, ?)", p.ordinal, string(canonical))
	return err
}

// recordTree builds the Merkle tree over the stored records.
func recordTree(ctx context.Context, q querier) (merkle, error) {
	var tree merkle
	rows, err := q.QueryContext(ctx, "SELECT canonical FROM record ORDER BY instance")
	if err != nil {
		return merkle{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var canonical sql.RawBytes
		if err := rows.Scan(&canonical); err != nil {
			return merkle{}, err
		}
		tree.add(canonical)
	}
	return tree, rows.Err()
}

// tidySealed turns a sealed file with a write-ahead log into one single file. A
// process that dies before it is through leaves a file that is sealed all the
// same, and the next Resume gets here again.
func (w *Writer) tidySealed(ctx context.Context) (err error) {
	const what = "make the sealed run one file"
	if err := w.disconnect(); err != nil {
		return err
	}
	db, err := connect(w.path, url.Values{"mode": {"rw"}, "_pragma": {"synchronous(FULL)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, doing(what, db.Close())) }()
	db.SetMaxOpenConns(1)

	var busy bool
	var pages, moved int64
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return doing(what, err)
	}
	if busy {
		return doing(what, errors.New("somebody has been reading it for too long"))
	}
	// Now the file is whole. Leaving WAL mode removes the empty log, and then
	// changes two bytes of the file's header. For those there is no journal on
	// the disk: a process killed then would leave one that no reader may roll
	// back, and a sector with the two bytes is written or is not.
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = MEMORY")
	if err != nil && !isBusy(err) { // who has it open keeps the empty log there
		return doing(what, err)
	}
	if err := syncPath(w.path); err != nil {
		return err
	}
	return syncPath(filepath.Dir(w.path))
}
