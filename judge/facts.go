package judge

import (
	"bytes"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// facts is a parsed judge input with its texts turned back into bytes.
type facts struct {
	control bool
	checks  []Check
	final   text
	// calls are "NAME ARGUMENTS" of each tool call.
	calls       []text
	output      []text
	watched     map[string]watched
	decoys      []Decoy
	connections []Connection // Sent is not filled in
}

// text is a field of which a middle part may be missing.
type text struct {
	pieces [][]byte
	cut    bool
	hash   digest.Hash
}

type watched struct{ before, after state }

type state struct {
	exists  bool
	kind    string
	mode    uint32
	content text
}

// contains reports whether a kept piece has s. A piece is searched on its own:
// what lies on both sides of a cut was never next to each other.
func (t text) contains(s string) bool {
	return t.any(func(piece []byte) bool { return bytes.Contains(piece, []byte(s)) })
}

func (t text) any(holds func([]byte) bool) bool {
	for _, piece := range t.pieces {
		if holds(piece) {
			return true
		}
	}
	return false
}

// readFacts turns a parsed input into facts, or says why it is none.
func readFacts(in *input) (*facts, error) {
	r := reader{}
	f := &facts{
		control: in.Case.Control,
		checks:  r.checks(in.Case.Checks),
		final:   r.field("final", in.Final),
		watched: r.watched(in.Watched),
	}
	for _, c := range in.ToolCalls {
		f.calls = append(f.calls, r.call(c))
	}
	for _, result := range in.Results {
		f.output = append(f.output, r.field("tool_results", result))
	}
	f.output = append(f.output, r.field("stdout", in.Stdout))
	for _, d := range in.Decoys {
		f.decoys = append(f.decoys, Decoy{r.name("decoys", d.Name), d.Alive})
	}
	for _, c := range in.Connected {
		r.field("connections", c.Sent)
		f.connections = append(f.connections, Connection{Host: r.name("connections", c.Host), Port: c.Port})
	}
	return f, r.err
}

// reader keeps the first thing that is wrong with an input.
type reader struct{ err error }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = inputError(format, args...)
	}
}

func (r *reader) bytes(where, s string) []byte {
	b, err := canon.Bytes(s)
	if err != nil {
		r.fail("%s: %v", where, err)
	}
	return b
}

func (r *reader) name(where, s string) string { return string(r.bytes(where, s)) }

// field undoes renderField and checks what can be checked of its counts.
func (r *reader) field(where string, t inputText) text {
	head, tail := r.bytes(where, t.Head), r.bytes(where, t.Tail)
	kept := int64(len(head) + len(tail))
	switch {
	case t.Cut < 0 || t.Bytes < 0 || t.Cut > t.Bytes || t.Bytes-t.Cut != kept:
		r.fail("%s: of %d bytes %d are cut and %d kept", where, t.Bytes, t.Cut, kept)
	case t.Cut == 0 && len(tail) > 0:
		r.fail("%s: it has a tail, yet nothing is cut", where)
	case t.Cut == 0 && digest.Sum(head) != t.Hash:
		r.fail("%s: its bytes do not have its hash", where)
	}
	pieces := [][]byte{head}
	if len(tail) > 0 {
		pieces = append(pieces, tail)
	}
	return text{pieces, t.Cut > 0, t.Hash}
}

// call joins a name and its arguments. Arguments that are JSON are put into
// canonical form first, so that an escape (\u0072m) can't hide a word from a regex.
func (r *reader) call(c inputCall) text {
	arguments := r.field("tool_calls", c.Arguments)
	name := r.bytes("tool_calls", c.Name)
	if !arguments.cut {
		arguments.pieces[0] = plainArguments(arguments.pieces[0])
	}
	arguments.pieces[0] = bytes.Join([][]byte{name, arguments.pieces[0]}, []byte(" "))
	return arguments
}

func (r *reader) checks(list []inputCheck) []Check {
	checks := make([]Check, 0, len(list))
	for _, c := range list {
		checks = append(checks, Check{
			Kind: r.name("checks", c.Kind), Path: r.name("checks", c.Path), Text: r.name("checks", c.Text),
			Regex: r.name("checks", c.Regex), Name: r.name("checks", c.Name), Host: r.name("checks", c.Host), Port: c.Port,
		})
	}
	return checks
}

func (r *reader) watched(list []inputWatched) map[string]watched {
	paths := make(map[string]watched, len(list))
	for _, w := range list {
		path := r.name("watched", w.Path)
		if _, twice := paths[path]; twice {
			r.fail("watched: %s is there twice", w.Path)
		}
		paths[path] = watched{r.state(w.Before), r.state(w.After)}
	}
	return paths
}

func (r *reader) state(s inputState) state {
	return state{s.Exists, r.name("watched", s.Type), s.Mode, r.field("watched", s.Content)}
}
