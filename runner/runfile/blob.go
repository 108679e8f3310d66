package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"litmus/internal/digest"
)

// MaxBlob bounds one blob, in bytes, written and read.
const MaxBlob = 256 << 20

// codec is zstd with a bound: nothing decompresses to more than the caller said.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newCodec() (*codec, error) {
	// One frame for each blob, an empty one included, and no checksum of its
	// own: every content is checked against its BLAKE3.
	encoder, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(MaxBlob))
	if err != nil {
		return nil, fmt.Errorf("set up decompression: %w", err)
	}
	return &codec{encoder, decoder}, nil
}

func (c *codec) close() {
	c.encoder.Close()
	c.decoder.Close()
}

func (c *codec) pack(content []byte) []byte { return c.encoder.EncodeAll(content, nil) }

// unpack decompresses to exactly size bytes, or fails without having used more
// memory than that.
func (c *codec) unpack(packed []byte, size int64) ([]byte, error) {
	if size < 0 || size > MaxBlob {
		return nil, damaged("a size of %d bytes is out of bounds", size)
	}
	content, err := c.decoder.DecodeAll(packed, make([]byte, 0, size))
	if err != nil {
		return nil, damaged("decompress: %v", err)
	}
	if int64(len(content)) != size {
		return nil, damaged("%d bytes where %d are stated", len(content), size)
	}
	return content, nil
}

// putBlob stores content under its hash unless it is there already.
func (c *codec) putBlob(ctx context.Context, tx *sql.Tx, content []byte) (digest.Hash, error) {
	if len(content) > MaxBlob {
		return digest.Hash{}, fmt.Errorf("store blob: %d bytes are more than the limit of %d", len(content), MaxBlob)
	}
	hash := digest.Sum(content)
	var there bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM blob WHERE hash = ?)", hash[:]).Scan(&there); err != nil || there {
		return hash, doing("store blob", err)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO blob (hash, size, zstd) VALUES (?, ?, ?)", hash[:], len(content), c.pack(content))
	return hash, doing("store blob", err)
}

// Blob returns the content with the given hash: ErrNoBlob if the file does not
// have it, ErrDamaged if what it has is something else.
func (f *File) Blob(ctx context.Context, hash digest.Hash) ([]byte, error) {
	var packed []byte
	var size int64
	err := f.db.QueryRowContext(ctx, "SELECT size, zstd FROM blob WHERE hash = ?", hash[:]).Scan(&size, &packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("blob %s: %w", hash, ErrNoBlob)
	}
	if err != nil {
		return nil, doing("read blob "+hash.String(), err)
	}
	content, err := f.codec.unpack(packed, size)
	if err != nil {
		return nil, doing("read blob "+hash.String(), err)
	}
	if digest.Sum(content) != hash {
		return nil, doing("read blob "+hash.String(), damaged("its content has another hash"))
	}
	return content, nil
}
