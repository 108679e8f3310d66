// Package digest is the one hash of litmus: BLAKE3-256, written out in full.
//
// A Hash is printed and read as 64 lower-case hex digits and never shortened:
// a cut hash is a collision waiting for a lawyer. The package knows nothing of
// what it hashes; canonical forms are the business of internal/canon and
// internal/treehash.
package digest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"lukechampine.com/blake3"
)

// Size is the length of a Hash in bytes.
const Size = 32

// Hash is a BLAKE3-256 digest. The zero value means "no hash"; it is not the
// hash of anything that we know of.
type Hash [Size]byte

// Sum returns the hash of b.
func Sum(b []byte) Hash { return blake3.Sum256(b) }

// Keyed returns BLAKE3 in keyed mode over parts. Each part goes in after its
// length as 8 bytes, big-endian, so that no two lists of parts share an input:
// ("ab", "c") and ("a", "bc") differ.
func Keyed(key Hash, parts ...[]byte) Hash {
	h := blake3.New(Size, key[:])
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	var sum Hash
	h.Sum(sum[:0])
	return sum
}

// XOF returns the extendable output of BLAKE3 in keyed mode over label: an
// endless, reproducible stream of bytes. Its Read never fails.
func XOF(key Hash, label []byte) io.Reader {
	h := blake3.New(Size, key[:])
	h.Write(label)
	return h.XOF()
}

// Parse reads the 64 lower-case hex digits that String prints, and nothing else.
func Parse(s string) (Hash, error) {
	var h Hash
	err := h.UnmarshalText([]byte(s))
	return h, err
}

// String returns the hash as 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether h is the zero value, which stands for "no hash".
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText is String, for JSON.
func (h Hash) MarshalText() ([]byte, error) { return h.AppendText(nil) }

// AppendText appends the 64 hex digits to b.
func (h Hash) AppendText(b []byte) ([]byte, error) { return hex.AppendEncode(b, h[:]), nil }

// UnmarshalText is Parse, for JSON. It leaves h alone when text is not a hash.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(Size) {
		return fmt.Errorf("a hash has %d hex digits, this has %d characters", hex.EncodedLen(Size), len(text))
	}
	// encoding/hex takes capitals too; one hash must have one spelling.
	for i, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("character %d of a hash is %q, not a lower-case hex digit", i+1, c)
		}
	}
	_, err := hex.Decode(h[:], text)
	return err
}
