package digest

import "lukechampine.com/blake3"

// Writer hashes what is written to it and counts the bytes. It is not safe for
// concurrent use.
type Writer struct {
	hasher *blake3.Hasher
	length int64
}

// NewWriter returns a Writer that has seen nothing.
func NewWriter() *Writer { return &Writer{hasher: blake3.New(Size, nil)} }

// Write takes all of p and never fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.length += int64(len(p))
	return w.hasher.Write(p)
}

// Sum returns the hash of everything written so far; writing may go on after it.
func (w *Writer) Sum() Hash {
	var sum Hash
	w.hasher.Sum(sum[:0])
	return sum
}

// Len returns how many bytes have been written.
func (w *Writer) Len() int64 { return w.length }
