package mutation

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// frame is a line of the manifest without what changes from one instance of a case
// to the next. It is encoded once for all of them, and that is where the speed
// comes from: what is left for an instance are its messages and a few numbers.
//
// The pieces are members in canonical order with a comma behind each, cut where
// the others go:
//
//	head  chain  checks  id  messages  metadata  mutation_hash  processes  seed  sim
type frame struct {
	head      []byte // ambiguous, case, category
	checks    []byte // checks, control, files, fixtures, fixtures_hash
	metadata  []byte
	processes []byte
	sim       []byte // last member of the line, with a comma before it
}

func newFrame(c *Case, fixturesHash digest.Hash) (frame, error) {
	var f frame
	var err error
	add := func(to *[]byte, name string, value any) {
		if err != nil {
			return
		}
		var b []byte
		if b, err = canon.Marshal(value); err != nil {
			err = fmt.Errorf("%s of case %s: %w", name, c.ID, err)
			return
		}
		*to = fmt.Appendf(*to, "%q:%s,", name, b)
	}
	add(&f.head, "ambiguous", c.Ambiguous)
	add(&f.head, "case", c.ID)
	add(&f.head, "category", c.Category)
	add(&f.checks, "checks", c.Checks)
	add(&f.checks, "control", c.Control)
	if len(c.Files) > 0 {
		add(&f.checks, "files", c.Files)
	}
	if c.Fixtures != "" {
		add(&f.checks, "fixtures", c.Fixtures)
		add(&f.checks, "fixtures_hash", fixturesHash)
	}
	if len(c.Metadata) > 0 {
		add(&f.metadata, "metadata", c.Metadata)
	}
	if len(c.Processes) > 0 {
		add(&f.processes, "processes", c.Processes)
	}
	if c.Sim != nil {
		var b []byte
		add(&b, "sim", c.Sim)
		if err == nil {
			f.sim = append([]byte{','}, b[:len(b)-1]...)
		}
	}
	return f, err
}

// lineBuilder collects lines of the manifest. Its buffers are used again from line
// to line.
type lineBuilder struct {
	lines    []byte
	hash     digest.Hash // mutation hash of the line added last
	messages []byte
	content  []byte
}

// add appends the line of an instance, with its newline.
func (b *lineBuilder) add(f *frame, id InstanceID, messages []Message) {
	b.messages = appendMessages(append(b.messages[:0], `"messages":`...), messages)

	// What is hashed is the line without chain, id, mutation_hash and seed.
	content := append(append(append(b.content[:0], '{'), f.head...), f.checks...)
	content = append(append(append(content, b.messages...), ','), f.metadata...)
	content = append(content, f.processes...)
	content = append(content[:len(content)-1], f.sim...) // its own comma, if any
	b.content = append(content, '}')
	b.hash = digest.Sum(b.content)

	line := append(append(b.lines, '{'), f.head...)
	line = append(appendString(append(line, `"chain":`...), id.Chain), ',')
	line = append(line, f.checks...)
	line = append(appendString(append(line, `"id":`...), id.String()), ',')
	line = append(append(append(line, b.messages...), ','), f.metadata...)
	line, _ = b.hash.AppendText(append(line, `"mutation_hash":"`...))
	line = append(append(line, `",`...), f.processes...)
	line = strconv.AppendInt(append(line, `"seed":`...), id.Seed, 10)
	b.lines = append(append(line, f.sim...), "}\n"...)
}

// appendMessages appends what canon.Marshal makes of messages.
func appendMessages(dst []byte, messages []Message) []byte {
	dst = append(dst, '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"content":`...), m.Content)
		dst = append(appendString(append(dst, `,"role":`...), m.Role), '}')
	}
	return append(dst, ']')
}

// appendString appends a JSON string in canonical form. Its error would be about
// bytes that are not UTF-8, of which there are none: names are checked when they
// are read, and messages by Chain.apply.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
