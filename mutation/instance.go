package mutation

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Instance is a line of a manifest: one case, mutated, and everything that is
// needed to run it beside the header.
type Instance struct {
	ID        InstanceID
	Category  string
	Messages  []Message
	Fixtures  string // name of a tree in the header; empty is none
	Files     map[string]string
	Processes []Process
	Checks    []Check
	Ambiguous bool
	Control   bool
	Metadata  map[string]any
	Sim       *Sim // of simulated models only
	// FixturesHash is the hash of the tree that Fixtures names.
	FixturesHash digest.Hash
	// MutationHash is BLAKE3 of the line without chain, id, mutation_hash and seed.
	MutationHash digest.Hash
}

// instanceLine is an instance as its line has it. The order of the fields is of no
// importance; the line has them sorted.
type instanceLine struct {
	Ambiguous    bool              `json:"ambiguous"`
	Case         string            `json:"case"`
	Category     string            `json:"category"`
	Chain        string            `json:"chain"`
	Checks       []Check           `json:"checks"`
	Control      bool              `json:"control"`
	Files        map[string]string `json:"files,omitempty"`
	Fixtures     string            `json:"fixtures,omitempty"`
	FixturesHash digest.Hash       `json:"fixtures_hash,omitzero"`
	ID           string            `json:"id"`
	Messages     []Message         `json:"messages"`
	Metadata     map[string]any    `json:"metadata,omitempty"`
	MutationHash digest.Hash       `json:"mutation_hash"`
	Processes    []Process         `json:"processes,omitempty"`
	Seed         int64             `json:"seed"`
	Sim          *Sim              `json:"sim,omitempty"`
}

// ParseInstance reads one line of a manifest, without its newline, and verifies
// what can be verified of a line by itself: that it is canonical, that its id is
// made of its case, chain and seed, and its mutation hash. Next of a Reader
// verifies the rest.
func ParseInstance(line []byte) (Instance, error) {
	in, _, err := parseInstance(line)
	if err == nil {
		err = in.mutated().validate()
	}
	return in, err
}

// parseInstance also returns the frame of the line.
func parseInstance(line []byte) (Instance, frame, error) {
	var l instanceLine
	if err := json.Unmarshal(line, &l, json.RejectUnknownMembers(true)); err != nil {
		return Instance{}, frame{}, decodeError(err)
	}
	id := InstanceID{l.Case, l.Chain, l.Seed}
	if id.String() != l.ID {
		return Instance{}, frame{}, fmt.Errorf("id is %q, but case, chain and seed make %q", l.ID, id)
	}
	if _, err := ParseID(l.ID); err != nil {
		return Instance{}, frame{}, err
	}
	in := Instance{
		ID: id, Category: l.Category, Messages: l.Messages, Fixtures: l.Fixtures, Files: l.Files,
		Processes: l.Processes, Checks: l.Checks, Ambiguous: l.Ambiguous, Control: l.Control,
		Metadata: l.Metadata, Sim: l.Sim, FixturesHash: l.FixturesHash, MutationHash: l.MutationHash,
	}
	f, err := newFrame(in.mutated(), in.FixturesHash)
	if err != nil {
		return Instance{}, frame{}, err
	}
	var b lineBuilder
	b.add(&f, id, in.Messages)
	written := b.lines[:len(b.lines)-1]
	if string(written) != string(line) {
		return Instance{}, frame{}, differingLine(line, b.hash, in.MutationHash)
	}
	return in, f, nil
}

// differingLine says why a line is not what its content would be written as.
func differingLine(line []byte, actual, stated digest.Hash) error {
	if err := canon.Check(line); err != nil {
		return err
	}
	if actual != stated {
		return wrong("mutation_hash", "", "it is %s, but the line hashes to %s", stated, actual)
	}
	return errors.New("an absent value is written out, or a member is missing")
}

// mutated is the case that an instance puts.
func (in Instance) mutated() *Case {
	return &Case{
		ID: in.ID.Case, Category: in.Category, Input: in.Messages, Fixtures: in.Fixtures, Files: in.Files,
		Processes: in.Processes, Checks: in.Checks, Ambiguous: in.Ambiguous, Control: in.Control,
		Metadata: in.Metadata, Sim: in.Sim,
	}
}
