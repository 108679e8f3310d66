package mutation

import (
	"encoding/binary"
	"io"
	"strconv"

	"litmus/internal/digest"
)

// PRNGVersion names how an RNG draws. It changes whenever a draw would.
const PRNGVersion = "litmus-prng/1"

// RNG is the only source of chance that an operator has. Its stream depends on
// the operator's digest, the seed, the instance id and the operator's place in the
// chain, and on nothing else: how often another operator draws does not show.
type RNG struct {
	operator digest.Hash
	seed     int64
	instance string
	step     int
	stream   io.Reader // nil until the first draw: most operators never draw
}

// Uint64 returns the next 8 bytes of the stream, little-endian. The stream is the
// extendable output of
//
//	BLAKE3 keyed by k over "litmus-prng/1 " and the step in decimal, from 0
//
// where k = Keyed(operator digest; seed as 8 bytes, big-endian; instance id).
func (r *RNG) Uint64() uint64 {
	if r.stream == nil {
		seed := binary.BigEndian.AppendUint64(nil, uint64(r.seed))
		key := digest.Keyed(r.operator, seed, []byte(r.instance))
		r.stream = digest.XOF(key, []byte(PRNGVersion+" "+strconv.Itoa(r.step)))
	}
	var b [8]byte
	if _, err := io.ReadFull(r.stream, b[:]); err != nil {
		panic("an extendable output does not end: " + err.Error())
	}
	return binary.LittleEndian.Uint64(b[:])
}

// IntN returns a number from 0 to n-1, each as likely as the others: draws at or
// above the largest multiple of n below 2^64 are thrown away. It panics if n < 1.
func (r *RNG) IntN(n int) int {
	if n < 1 {
		panic("IntN of " + strconv.Itoa(n))
	}
	m := uint64(n)
	excess := (1<<64 - 1) % m
	if excess++; excess == m {
		excess = 0 // m divides 2^64
	}
	for {
		if draw := r.Uint64(); draw <= (1<<64-1)-excess {
			return int(draw % m)
		}
	}
}
