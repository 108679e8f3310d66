package gateway

import (
	"bytes"
	"io"
	"strings"
)

// secret is a key. It is only ever held by pointer, so that printing what holds
// it prints an address.
type secret struct{ value string }

func (s *secret) String() string   { return "[key]" }
func (s *secret) GoString() string { return s.String() }

// shortestSecret is the length below which a key is a placeholder ("EMPTY",
// "none"), as local servers want one. Masking such a word would change answers.
const shortestSecret = 16

func (s *secret) isReal() bool { return len(s.value) >= shortestSecret }

// mask is as long as the key, so that a length given in a header stays right.
func (s *secret) mask() string { return strings.Repeat("*", len(s.value)) }

// scrub returns text with the key masked.
func (s *secret) scrub(text string) string {
	if !s.isReal() {
		return text
	}
	return strings.ReplaceAll(text, s.value, s.mask())
}

// reader returns r with the key masked, even where it is cut into two reads. It
// holds back nothing but bytes that the key may begin with.
func (s *secret) reader(r io.Reader) io.Reader {
	if !s.isReal() {
		return r
	}
	return &maskReader{from: r, key: []byte(s.value), mask: []byte(s.mask())}
}

type maskReader struct {
	from      io.Reader
	key, mask []byte
	ready     []byte // masked, to be given out
	held      []byte // may be the beginning of the key
	err       error  // comes after ready
}

func (m *maskReader) Read(p []byte) (int, error) {
	for len(m.ready) == 0 && m.err == nil && len(p) > 0 {
		chunk := make([]byte, max(len(p), len(m.key)))
		n, err := m.from.Read(chunk)
		text := bytes.ReplaceAll(append(m.held, chunk[:n]...), m.key, m.mask)
		keep := 0
		if err == nil {
			keep = m.begins(text)
		}
		m.ready, m.held, m.err = text[:len(text)-keep], bytes.Clone(text[len(text)-keep:]), err
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, m.err
	}
	return n, nil
}

// begins returns the length of the longest end of text that the key begins with.
func (m *maskReader) begins(text []byte) int {
	for n := min(len(text), len(m.key)-1); n > 0; n-- {
		if bytes.HasSuffix(text, m.key[:n]) {
			return n
		}
	}
	return 0
}
