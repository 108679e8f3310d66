package mutation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of a manifest, in bytes. The header has the fixtures, in
// base64.
const maxLine = 256 << 20

// ManifestError says which line of a manifest is wrong. Lines count from 1, the
// header.
type ManifestError struct {
	Line int
	Err  error
}

func (e *ManifestError) Error() string { return fmt.Sprintf("manifest line %d: %v", e.Line, e.Err) }
func (e *ManifestError) Unwrap() error { return e.Err }

// Reader reads a manifest and verifies all of it that can be verified without the
// suite: the canonical form of each line, the hashes, the order of the instances
// and their number. A manifest is good once Next has returned io.EOF.
type Reader struct {
	Header Header

	lines *bufio.Reader
	line  int // number of the line read last
	next  int // ordinal of the next instance
	block block
	// seen has the case of each block so far: a case that comes back is one id for
	// two things.
	seen map[string]bool
}

// block is what all instances of one case share.
type block struct {
	id    string
	frame frame
}

// NewReader reads and verifies the header. Errors about the manifest are
// *ManifestError.
func NewReader(r io.Reader) (*Reader, error) {
	m := &Reader{lines: bufio.NewReaderSize(r, 256<<10), seen: map[string]bool{}}
	line, err := m.readLine()
	if errors.Is(err, io.EOF) {
		return nil, m.wrong(errors.New("the manifest is empty"))
	}
	if err != nil {
		return nil, err
	}
	if err := m.Header.parse(line); err != nil {
		return nil, m.wrong(err)
	}
	return m, nil
}

// Next returns the next instance, or io.EOF after the last.
func (m *Reader) Next() (Instance, error) {
	line, err := m.readLine()
	if errors.Is(err, io.EOF) {
		if m.next == m.Header.Counts.Instances {
			return Instance{}, io.EOF
		}
		return Instance{}, m.wrong(fmt.Errorf("the manifest ends after %d of %d instances", m.next, m.Header.Counts.Instances))
	}
	if err != nil {
		return Instance{}, err
	}
	if m.next >= m.Header.Counts.Instances {
		return Instance{}, m.wrong(fmt.Errorf("there are more than %d instances", m.Header.Counts.Instances))
	}
	in, f, err := parseInstance(line)
	if err == nil {
		err = m.verify(in, f)
	}
	if err != nil {
		return Instance{}, m.wrong(err)
	}
	m.next++
	return in, nil
}

// verify compares an instance with its place: the chain, the seed and, within a
// block, the case follow from it.
func (m *Reader) verify(in Instance, f frame) error {
	counts := m.Header.Counts
	if m.next%(counts.Chains*counts.Seeds) == 0 {
		if err := m.begin(in, f); err != nil {
			return err
		}
	} else if !f.equal(m.block.frame) {
		return fmt.Errorf("more than the messages differs from the other instances of the case %q", m.block.id)
	}
	want := InstanceID{m.block.id, m.Header.Chains[m.next/counts.Seeds%counts.Chains].Name, m.Header.Seeds[m.next%counts.Seeds]}
	if in.ID != want {
		return wrong("id", "", "it is %q, but in this place of the manifest it is %q", in.ID, want)
	}
	return in.mutated().validateInput()
}

// begin starts the block of a case.
func (m *Reader) begin(in Instance, f frame) error {
	c := in.mutated()
	if m.seen[c.ID] {
		return wrong("case", "", "%q was there before", c.ID)
	}
	if err := c.validate(); err != nil {
		return err
	}
	if err := c.validateStaging(m.Header.Fixtures); err != nil {
		return err
	}
	if c.Fixtures != "" && in.FixturesHash != m.Header.Fixtures[c.Fixtures].Hash {
		return wrong("fixtures_hash", "", "it is not the hash of the tree %q in the header", c.Fixtures)
	}
	m.seen[c.ID] = true
	m.block = block{c.ID, f}
	return nil
}

func (f frame) equal(g frame) bool {
	return bytes.Equal(f.head, g.head) && bytes.Equal(f.checks, g.checks) && bytes.Equal(f.metadata, g.metadata) &&
		bytes.Equal(f.processes, g.processes) && bytes.Equal(f.sim, g.sim)
}

// readLine returns the next line without its newline, valid until the next call.
func (m *Reader) readLine() ([]byte, error) {
	m.line++
	line, err := m.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxLine {
			var more []byte
			more, err = m.lines.ReadSlice('\n')
			line = append(line, more...)
		}
	}
	switch {
	case len(line) > maxLine:
		return nil, m.wrong(fmt.Errorf("it is longer than %d bytes", maxLine))
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, m.wrong(errors.New("no newline at its end"))
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return line[:len(line)-1], nil
}

func (m *Reader) wrong(err error) error { return &ManifestError{m.line, err} }
