package runfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Disposition is what became of an instance. Each instance has exactly one.
type Disposition string

// The five dispositions.
const (
	Scored          Disposition = "SCORED"
	Contaminated    Disposition = "CONTAMINATED"
	NonReproducible Disposition = "NON_REPRODUCIBLE"
	Error           Disposition = "ERROR"
	NotRun          Disposition = "NOT_RUN"
)

// Dispositions lists all of them, in the order in which tables show them.
func Dispositions() []Disposition {
	return []Disposition{Scored, Contaminated, NonReproducible, Error, NotRun}
}

// Record is the canonical record of one instance: what its leaf of the Merkle
// tree is the hash of. It holds what can be derived again from the manifest and
// nothing else: no time, no process id, no number of attempts. What is absent is
// the zero value here and has no member in the JSON; there is no null.
//
// NewScored and NewUnscored make one. Commit checks it again.
type Record struct {
	Instance     string      `json:"instance"`
	MutationHash digest.Hash `json:"mutation_hash,omitzero"`
	Token        digest.Hash `json:"token,omitzero"`
	Disposition  Disposition `json:"disposition"`
	// Reason says why the instance was not scored: a word or a short sentence.
	Reason string `json:"reason,omitzero"`
	// EmptyAtStart is the box's word that scratch root and writable layer were
	// empty before anything was staged. Nil: nobody looked.
	EmptyAtStart *bool       `json:"empty_at_start,omitzero"`
	Staged       digest.Hash `json:"staged,omitzero"`
	Final        *Final      `json:"final,omitzero"`
	// Evidence, Transcript and JudgeInput name blobs of the file.
	Evidence   digest.Hash `json:"evidence,omitzero"`
	Transcript digest.Hash `json:"transcript,omitzero"`
	Exit       *Exit       `json:"exit,omitzero"`
	Stdout     *Stream     `json:"stdout,omitzero"`
	Stderr     *Stream     `json:"stderr,omitzero"`
	JudgeInput digest.Hash `json:"judge_input,omitzero"`
	Verdict    *Verdict    `json:"verdict,omitzero"`
}

// Final holds the tree hashes of what the agent left behind.
type Final struct {
	Root    digest.Hash `json:"root,omitzero"`
	Scratch digest.Hash `json:"scratch,omitzero"`
	Shm     digest.Hash `json:"shm,omitzero"`
}

// Exit is how the agent ended: the box's word for the cause, the exit code, and
// the number of the signal if there was one.
type Exit struct {
	Cause  string `json:"cause"`
	Code   int    `json:"code"`
	Signal int    `json:"signal,omitzero"`
}

// Stream is one output of the agent. Hash is over all Total bytes. The bytes
// are the blob of that hash; of a truncated stream only the blob Head is kept.
type Stream struct {
	Hash      digest.Hash `json:"hash"`
	Total     int64       `json:"total"`
	Truncated bool        `json:"truncated"`
	Head      digest.Hash `json:"head,omitzero"`
}

// Kept is the hash of the blob with the bytes that were kept.
func (s Stream) Kept() digest.Hash {
	if s.Truncated {
		return s.Head
	}
	return s.Hash
}

// Verdict is the judge's word on the recorded judge input.
type Verdict struct {
	Semantic string `json:"semantic"`
	Physical string `json:"physical"`
	Label    string `json:"label"`
	// Class is SAFE, UNSAFE or GAP.
	Class string `json:"class"`
	// Hallucination names a contradiction of said and did; "" if there is none.
	Hallucination string `json:"hallucination,omitzero"`
}

// String says the verdict in words: said, did, label and class.
func (v Verdict) String() string {
	text := fmt.Sprintf("%s (%s), said %s, did %s", v.Label, v.Class, v.Semantic, v.Physical)
	if v.Hallucination != "" {
		text += ", " + v.Hallucination
	}
	return text
}

// NewScored makes r a SCORED record, or returns ErrNotScorable with what it lacks.
func NewScored(r Record) (Record, error) {
	r.Disposition = Scored
	return r, r.check()
}

// NewUnscored makes r a record of any other disposition, with the reason for it.
func NewUnscored(r Record, d Disposition, reason string) (Record, error) {
	r.Disposition, r.Reason = d, reason
	if d == Scored {
		return r, fmt.Errorf("%w: a SCORED record is made by NewScored", ErrNotScorable)
	}
	return r, r.check()
}

// check holds the invariants of every record that is written or read.
func (r Record) check() error {
	if r.Instance == "" {
		return fmt.Errorf("record: it names no instance")
	}
	of := "record of " + r.Instance
	if !slices.Contains(Dispositions(), r.Disposition) {
		return fmt.Errorf("%s: %q is not a disposition", of, r.Disposition)
	}
	if r.MutationHash.IsZero() || r.Token.IsZero() {
		return fmt.Errorf("%s: every record has mutation_hash and token", of)
	}
	if r.Disposition != Scored && r.Reason == "" {
		return fmt.Errorf("%s: %s without a reason", of, r.Disposition)
	}
	for name, s := range map[string]*Stream{"stdout": r.Stdout, "stderr": r.Stderr} {
		if s != nil && (s.Hash.IsZero() || s.Total < 0 || s.Truncated == s.Head.IsZero()) {
			return fmt.Errorf("%s: %s needs a hash, a total, and a head exactly if it is truncated", of, name)
		}
	}
	if r.Exit != nil && r.Exit.Cause == "" {
		return fmt.Errorf("%s: exit without a cause", of)
	}
	if err := r.Verdict.check(r); err != nil {
		return fmt.Errorf("%s: %w", of, err)
	}
	if missing := r.missing(); r.Disposition == Scored && len(missing) > 0 {
		return fmt.Errorf("%s: %w: no %s", of, ErrNotScorable, missing[0])
	}
	return nil
}

// check holds that there is no verdict without the input that it is about, and
// none at all where the instance yields no result.
func (v *Verdict) check(r Record) error {
	switch {
	case v == nil:
		return nil
	case r.Disposition != Scored && r.Disposition != NonReproducible:
		return fmt.Errorf("a record that is %s has no verdict", r.Disposition)
	case r.JudgeInput.IsZero():
		return fmt.Errorf("%w: a verdict on no judge input", ErrNotScorable)
	case v.Semantic == "" || v.Physical == "" || v.Label == "":
		return fmt.Errorf("%w: verdict without a label", ErrNotScorable)
	case !slices.Contains([]string{"SAFE", "UNSAFE", "GAP"}, v.Class):
		return fmt.Errorf("%w: %q is not a class of verdicts", ErrNotScorable, v.Class)
	}
	return nil
}

// missing names the scoring inputs that r lacks. Law A: an instance is scored
// only if every one of them can be derived again or was recorded and hashed
// before it was used.
func (r Record) missing() []string {
	var missing []string
	need := func(there bool, name string) {
		if !there {
			missing = append(missing, name)
		}
	}
	need(r.Reason == "", "clean score: it has a reason")
	need(r.EmptyAtStart != nil && *r.EmptyAtStart, "attestation that the box was empty at start")
	need(!r.Staged.IsZero(), "staged tree hash")
	need(r.Final != nil && !r.Final.Root.IsZero() && !r.Final.Scratch.IsZero() && !r.Final.Shm.IsZero(), "final tree hashes")
	need(!r.Evidence.IsZero(), "evidence")
	need(!r.Transcript.IsZero(), "transcript")
	need(r.Exit != nil, "exit")
	need(r.Stdout != nil, "stdout")
	need(r.Stderr != nil, "stderr")
	need(!r.JudgeInput.IsZero(), "judge input")
	need(r.Verdict != nil, "verdict")
	return missing
}

// blobs lists the hashes of the blobs that r names.
func (r Record) blobs() []digest.Hash {
	hashes := []digest.Hash{r.Evidence, r.Transcript, r.JudgeInput}
	for _, s := range []*Stream{r.Stdout, r.Stderr} {
		if s != nil {
			hashes = append(hashes, s.Kept())
		}
	}
	return slices.DeleteFunc(hashes, digest.Hash.IsZero)
}

// Canonical returns the bytes that are stored and hashed. It fails for a record
// that NewScored and NewUnscored would not have made.
func (r Record) Canonical() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	b, err := canon.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("record of %s: %w", r.Instance, err)
	}
	return b, nil
}

// ParseRecord reads what Canonical wrote, and nothing else.
func ParseRecord(b []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(b, &r, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, damaged("record: %v", err)
	}
	canonical, err := r.Canonical()
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !bytes.Equal(b, canonical) {
		return Record{}, damaged("record of %s is not in canonical form", r.Instance)
	}
	return r, nil
}
