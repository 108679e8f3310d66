package treehash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
)

const (
	// alwaysPlain is the size, in bytes, up to which a file is hashed as it is.
	alwaysPlain = 1 << 20
	// blockSize is the unit in which larger files are looked at.
	blockSize = 4096
)

// sparseHeader begins the bytes that are hashed in place of a sparse file.
const sparseHeader = "litmus-sparse/1\n"

// content is a file's bytes with a way to skip what has never been written.
type content struct {
	io.ReaderAt
	size int64
	// nextData returns the next stretch, at or after offset, that may hold
	// something else than zeros; io.EOF if there is none.
	nextData func(offset int64) (start, end int64, err error)
}

// ContentHash hashes bytes as those of a file. It is their BLAKE3-256, unless
// they are more than 1 MiB of which less than half of the 4 KiB blocks have a
// byte that is not zero. Then it is that of sparseHeader, the size, and the
// index and bytes of each block that has; so a file that only pretends to be
// large takes no more time than what was written to it. The rule looks at
// bytes alone: how a file system stores them does not matter.
func ContentHash(b []byte) digest.Hash {
	h, err := content{bytes.NewReader(b), int64(len(b)), func(offset int64) (int64, int64, error) {
		return offset, int64(len(b)), nil
	}}.hash()
	if err != nil { // memory can be read
		panic(err)
	}
	return h
}

// fileContent is the content of an open file that had the given size.
func fileContent(f *os.File, size int64) content {
	return content{f, size, func(offset int64) (int64, int64, error) {
		start, err := f.Seek(offset, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return 0, 0, io.EOF
		}
		if err != nil {
			return 0, 0, err
		}
		end, err := f.Seek(start, unix.SEEK_HOLE)
		return start, end, err
	}}
}

func (c content) hash() (digest.Hash, error) {
	if c.size <= alwaysPlain {
		return c.plain()
	}
	dense, err := c.isDense()
	if err != nil {
		return digest.Hash{}, err
	}
	if dense {
		return c.plain()
	}
	return c.sparse()
}

func (c content) plain() (digest.Hash, error) {
	w := digest.NewWriter()
	n, err := io.Copy(w, io.NewSectionReader(c, 0, c.size))
	if err != nil {
		return digest.Hash{}, err
	}
	if n != c.size {
		return digest.Hash{}, fmt.Errorf("has %d of its %d bytes: %w", n, c.size, io.ErrUnexpectedEOF)
	}
	return w.Sum(), nil
}

// errEnough ends a walk over blocks early.
var errEnough = errors.New("enough")

// isDense reports whether at least half of the blocks have something in them.
func (c content) isDense() (bool, error) {
	blocks := (c.size + blockSize - 1) / blockSize
	var filled int64
	err := c.eachFilled(func(int64, []byte) error {
		filled++
		if 2*filled >= blocks {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}

func (c content) sparse() (digest.Hash, error) {
	w := digest.NewWriter()
	w.Write(binary.BigEndian.AppendUint64([]byte(sparseHeader), uint64(c.size)))
	err := c.eachFilled(func(index int64, block []byte) error {
		var head [8]byte
		binary.BigEndian.PutUint64(head[:], uint64(index))
		w.Write(head[:])
		w.Write(block)
		return nil
	})
	return w.Sum(), err
}

// eachFilled calls visit with each block that is not all zeros, in order. A
// last block that the file ends in has zeros after the end.
func (c content) eachFilled(visit func(index int64, block []byte) error) error {
	const chunk = 64 * blockSize
	buffer := make([]byte, chunk)
	for offset := int64(0); offset < c.size; {
		start, end, err := c.nextData(offset)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		end = min(end, c.size)
		offset = max(offset, start/blockSize*blockSize)
		for offset < end {
			blocks := buffer[:min(chunk, (end-offset+blockSize-1)/blockSize*blockSize)]
			if err := c.readZeroed(blocks, offset); err != nil {
				return err
			}
			if err := visitFilled(blocks, offset/blockSize, visit); err != nil {
				return err
			}
			offset += int64(len(blocks))
		}
	}
	return nil
}

// readZeroed fills buffer from offset on, with zeros after the end of the file.
func (c content) readZeroed(buffer []byte, offset int64) error {
	want := min(int64(len(buffer)), c.size-offset)
	n, err := c.ReadAt(buffer[:want], offset)
	if int64(n) < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	clear(buffer[want:])
	return nil
}

var zeroBlock [blockSize]byte

func visitFilled(buffer []byte, index int64, visit func(int64, []byte) error) error {
	for ; len(buffer) > 0; index, buffer = index+1, buffer[blockSize:] {
		if block := buffer[:blockSize]; !bytes.Equal(block, zeroBlock[:]) {
			if err := visit(index, block); err != nil {
				return err
			}
		}
	}
	return nil
}
