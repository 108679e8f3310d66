package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"

	"litmus/internal/digest"
)

// manifest recomputes the id from the bytes, holds the index against the lines,
// and lets the manifest's own reader go over it.
func (v *verifier) manifest(ctx context.Context) error {
	hash := digest.NewWriter()
	stored := &chunkReader{ctx: ctx, q: v.conn, codec: v.codec}
	err := v.index(ctx, io.TeeReader(stored, hash))
	if err != nil {
		return err
	}
	if id := hash.Sum(); id != v.ManifestID {
		v.find("manifest", "its id is %s, that of its bytes is %s", v.ManifestID, id)
	}
	if err := v.metaNumber(ctx, metaManifestSize, hash.Len()); err != nil {
		return err
	}
	if err := v.metaNumber(ctx, metaInstances, v.report.Instances); err != nil {
		return err
	}
	var extra int64
	if err := v.conn.QueryRowContext(ctx, "SELECT count(*) FROM manifest WHERE chunk NOT BETWEEN 0 AND ?", stored.next-1).Scan(&extra); err != nil {
		return err
	}
	if extra > 0 {
		v.find("manifest", "%d chunks are not part of it", extra)
	}
	if v.hooks.Manifest == nil {
		return nil
	}
	if err := v.hooks.Manifest(&chunkReader{ctx: ctx, q: v.conn, codec: v.codec}); err != nil {
		v.find("manifest", "%v", err)
	}
	return nil
}

func (v *verifier) metaNumber(ctx context.Context, key string, want int64) error {
	value, err := metaValue(ctx, v.conn, key)
	if err != nil {
		return err
	}
	if value != strconv.FormatInt(want, 10) {
		v.find("meta", "%s is %s, the manifest has %d", key, value, want)
	}
	return nil
}

// index reads the manifest to its end beside the instance table: the same rows,
// in the same places.
func (v *verifier) index(ctx context.Context, manifest io.Reader) error {
	lines := newLines(manifest)
	first, err := lines.next()
	if err != nil {
		return err
	}
	header, err := parseHeader(first)
	if err != nil {
		v.find("manifest", "%v", err)
	}
	rows, err := v.conn.QueryContext(ctx, "SELECT ordinal, id, offset, length FROM instance ORDER BY ordinal")
	if err != nil {
		return doing("read index", err)
	}
	defer rows.Close()
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := v.indexed(rows, lines, line); err != nil {
			return err
		}
		v.report.Instances++
	}
	for rows.Next() {
		v.find("instance", "has more rows than the manifest")
		break
	}
	if header.Counts.Instances != v.report.Instances {
		v.find("manifest", "its header says %d instances, there are %d", header.Counts.Instances, v.report.Instances)
	}
	return doing("read index", rows.Err())
}

// indexed compares one line with the next row of the index.
func (v *verifier) indexed(rows *sql.Rows, lines *lines, line []byte) error {
	r, err := parseRow(line)
	if err != nil {
		v.find("manifest", "line %d: %v", lines.number, err)
	}
	if !rows.Next() {
		v.find("instance", "has no row for line %d of the manifest", lines.number)
		return rows.Err()
	}
	var p place
	if err := rows.Scan(&p.ordinal, &p.id, &p.offset, &p.length); err != nil {
		return err
	}
	if want := (place{v.report.Instances, r.ID, lines.offset, lines.length}); p != want {
		v.find(fmt.Sprintf("instance %d", p.ordinal), "says %+v, the manifest %+v", p, want)
	}
	return nil
}
