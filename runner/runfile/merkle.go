package runfile

import (
	"encoding/binary"

	"litmus/internal/digest"
)

// The first byte of everything that is hashed for the root. Without it a
// record could be crafted that reads as a node, or one tree be passed off as
// another (RFC 6962, section 2.1).
const (
	leafDomain byte = 0
	nodeDomain byte = 1
	rootDomain byte = 2
)

// merkle computes the root over records in manifest order, in the tree shape of
// RFC 6962: n leaves split at the largest power of two below n. It holds one
// hash per level, whatever the number of leaves. The zero value is an empty tree.
type merkle struct {
	count uint64
	// peaks are the complete subtrees so far, the largest first: one for each
	// bit that is set in count.
	peaks []digest.Hash
}

func (m *merkle) add(record []byte) {
	h := leafHash(record)
	for n := m.count; n&1 == 1; n >>= 1 {
		last := len(m.peaks) - 1
		h = nodeHash(m.peaks[last], h)
		m.peaks = m.peaks[:last]
	}
	m.peaks = append(m.peaks, h)
	m.count++
}

// root binds the number of leaves to the top of the tree.
func (m *merkle) root() digest.Hash {
	b := binary.BigEndian.AppendUint64([]byte{rootDomain}, m.count)
	if last := len(m.peaks) - 1; last >= 0 {
		top := m.peaks[last]
		for i := last - 1; i >= 0; i-- {
			top = nodeHash(m.peaks[i], top)
		}
		b = append(b, top[:]...)
	}
	return digest.Sum(b)
}

func leafHash(record []byte) digest.Hash {
	w := digest.NewWriter()
	w.Write([]byte{leafDomain})
	w.Write(record)
	return w.Sum()
}

func nodeHash(left, right digest.Hash) digest.Hash {
	b := make([]byte, 0, 1+2*digest.Size)
	b = append(b, nodeDomain)
	b = append(b, left[:]...)
	b = append(b, right[:]...)
	return digest.Sum(b)
}
