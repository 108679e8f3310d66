package runfile

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"litmus/internal/digest"
)

const (
	// chunkSize is how many bytes of the manifest one row holds; only the last
	// row holds fewer.
	chunkSize = 256 << 10
	// maxLine bounds one line of the manifest. The header carries the fixtures.
	maxLine = 256 << 20
)

// manifestHeader is the little that this package wants of the manifest's first line.
type manifestHeader struct {
	Format string `json:"format"`
	Counts struct {
		Instances int64 `json:"instances"`
	} `json:"counts"`
}

// manifestRow is the little that this package wants of an instance's line.
type manifestRow struct {
	ID           string      `json:"id"`
	MutationHash digest.Hash `json:"mutation_hash"`
}

// manifestFormat is the format of manifest whose lines have these members.
const manifestFormat = "litmus-manifest/1"

func parseHeader(line []byte) (manifestHeader, error) {
	var h manifestHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return manifestHeader{}, fmt.Errorf("manifest line 1: %w", err)
	}
	if h.Format != manifestFormat {
		return manifestHeader{}, fmt.Errorf("manifest line 1: format is %q, not %q", h.Format, manifestFormat)
	}
	return h, nil
}

func parseRow(line []byte) (manifestRow, error) {
	var r manifestRow
	if err := json.Unmarshal(line, &r); err != nil {
		return manifestRow{}, err
	}
	if r.ID == "" || r.MutationHash.IsZero() {
		return manifestRow{}, errors.New("a row needs id and mutation_hash")
	}
	return r, nil
}

// lines splits a manifest. Every line ends with a newline, the last one too.
type lines struct {
	r      *bufio.Reader
	number int64 // of the line that next returned, from 1
	offset int64 // of its first byte
	length int64 // of it, without the newline
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, chunkSize)} }

// next returns a line without its newline, valid until the next call; io.EOF
// after the last one.
func (l *lines) next() ([]byte, error) {
	if l.number > 0 {
		l.offset += l.length + 1
	}
	l.number++
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.long(line)
	}
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("manifest line %d: no newline at its end", l.number)
	case err != nil:
		return nil, fmt.Errorf("manifest line %d: %w", l.number, err)
	}
	l.length = int64(len(line) - 1)
	return line[:l.length], nil
}

// long goes on with a line that is longer than the reader's buffer.
func (l *lines) long(start []byte) ([]byte, error) {
	line := append([]byte(nil), start...)
	for {
		more, err := l.r.ReadSlice('\n')
		if len(line)+len(more) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		line = append(line, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// chunkWriter cuts what is written to it into rows of the manifest table.
type chunkWriter struct {
	ctx    context.Context
	insert *sql.Stmt
	codec  *codec
	buffer []byte
	next   int64
}

func (w *chunkWriter) Write(p []byte) (int, error) {
	w.buffer = append(w.buffer, p...)
	for len(w.buffer) >= chunkSize {
		if err := w.put(w.buffer[:chunkSize]); err != nil {
			return 0, err
		}
		w.buffer = append(w.buffer[:0], w.buffer[chunkSize:]...)
	}
	return len(p), nil
}

// flush writes the last, shorter chunk.
func (w *chunkWriter) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	return w.put(w.buffer)
}

func (w *chunkWriter) put(chunk []byte) error {
	_, err := w.insert.ExecContext(w.ctx, w.next, len(chunk), w.codec.pack(chunk))
	w.next++
	return doing("store manifest", err)
}

// chunkReader reads the manifest back, one row at a time.
type chunkReader struct {
	ctx   context.Context
	q     querier
	codec *codec
	next  int64
	rest  []byte
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		chunk, err := readChunk(r.ctx, r.q, r.codec, r.next)
		if err != nil {
			return 0, err
		}
		r.next++
		r.rest = chunk
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// readChunk returns io.EOF for a chunk that is not there.
func readChunk(ctx context.Context, q querier, c *codec, number int64) ([]byte, error) {
	var size int64
	var packed []byte
	err := q.QueryRowContext(ctx, "SELECT size, zstd FROM manifest WHERE chunk = ?", number).Scan(&size, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, io.EOF
	}
	doingWhat := fmt.Sprintf("read manifest chunk %d", number)
	if err != nil {
		return nil, doing(doingWhat, err)
	}
	if size < 1 || size > chunkSize {
		return nil, doing(doingWhat, damaged("a size of %d bytes is out of bounds", size))
	}
	chunk, err := c.unpack(packed, size)
	return chunk, doing(doingWhat, err)
}

// Manifest reads the manifest, byte for byte as it was given to Create.
func (f *File) Manifest(ctx context.Context) io.Reader {
	return &chunkReader{ctx: ctx, q: f.db, codec: f.codec}
}

// ManifestLine returns the manifest's line for an instance, without the newline.
func (f *File) ManifestLine(ctx context.Context, instance string) ([]byte, error) {
	var offset, length int64
	err := f.db.QueryRowContext(ctx, "SELECT offset, length FROM instance WHERE id = ?", instance).Scan(&offset, &length)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%q: %w", instance, ErrUnknownInstance)
	}
	if err != nil {
		return nil, doing("find instance "+instance, err)
	}
	line, err := (&lineReader{q: f.db, codec: f.codec}).read(ctx, offset, length)
	return line, doing("read manifest line of "+instance, err)
}

// lineReader reads pieces of the manifest by offset. It keeps the chunk that it
// read last, so going through the rows in order unpacks each chunk once.
type lineReader struct {
	q     querier
	codec *codec
	// number is one more than that of the chunk kept; 0 while there is none.
	number int64
	chunk  []byte
}

func (r *lineReader) read(ctx context.Context, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || length > maxLine {
		return nil, damaged("%d bytes at %d are out of bounds", length, offset)
	}
	var line []byte
	for int64(len(line)) < length {
		at := offset + int64(len(line))
		if err := r.load(ctx, at/chunkSize); err != nil {
			return nil, err
		}
		if at%chunkSize >= int64(len(r.chunk)) {
			return nil, damaged("the manifest ends before byte %d", at)
		}
		rest := r.chunk[at%chunkSize:]
		line = append(line, rest[:min(int64(len(rest)), length-int64(len(line)))]...)
	}
	return line, nil
}

func (r *lineReader) load(ctx context.Context, number int64) error {
	if r.number == number+1 {
		return nil
	}
	chunk, err := readChunk(ctx, r.q, r.codec, number)
	if errors.Is(err, io.EOF) {
		return damaged("the manifest has no chunk %d", number)
	}
	if err != nil {
		return err
	}
	r.number, r.chunk = number+1, chunk
	return nil
}
