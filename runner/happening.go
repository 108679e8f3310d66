package runner

import (
	"time"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/runner/gateway"
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// happening is everything that came of one box.
type happening struct {
	outcome sandbox.Outcome
	// boxError is the harness's failure to make, watch or clear the box.
	boxError error
	// judgeError is the judge's failure to read its input.
	judgeError error
	transcript gateway.Transcript
	// staged is the hash that the staged tree must have, by the manifest.
	staged digest.Hash

	evidence, dialogue []byte // canonical, made by record
}

// record fills in what can be derived again. Of an attempt that was not brought
// to its end that is next to nothing: where it broke off is a matter of time.
func (h *happening) record(a *runfile.Attempt, d runfile.Disposition) (runfile.Record, error) {
	r := bareRecord(a)
	if d == runfile.Error {
		return r, nil
	}
	empty := h.outcome.EmptyAtStart
	r.EmptyAtStart, r.Staged = &empty, h.outcome.Staged
	if d != runfile.Scored {
		return r, nil
	}
	var err error
	if h.evidence, err = canon.Marshal(evidenceForm(h.outcome.Evidence)); err != nil {
		return r, err
	}
	h.dialogue = h.transcript.Canonical(digest.Sum)
	e := h.outcome.Evidence
	r.Final = &runfile.Final{Root: e.Root, Scratch: e.Scratch, Shm: e.Shm}
	r.Evidence, r.Transcript = digest.Sum(h.evidence), digest.Sum(h.dialogue)
	r.Exit = &runfile.Exit{Cause: string(h.outcome.Exit.Cause), Code: h.outcome.Exit.Code, Signal: h.outcome.Exit.Signal}
	r.Stdout, r.Stderr = recordStream(h.outcome.Stdout), recordStream(h.outcome.Stderr)
	return r, nil
}

// bareRecord has what every record has, whatever became of the instance.
func bareRecord(a *runfile.Attempt) runfile.Record {
	return runfile.Record{Instance: a.Instance, MutationHash: a.MutationHash, Token: a.Token}
}

// blobs are the contents that the record names.
func (h *happening) blobs(r runfile.Record) [][]byte {
	if r.Evidence.IsZero() {
		return nil
	}
	return [][]byte{h.evidence, h.dialogue, h.outcome.Stdout.Head, h.outcome.Stderr.Head}
}

// end is what is kept beside the record: facts of this attempt, and the bytes of
// its exchanges.
func (h *happening) end(at time.Time) (runfile.End, error) {
	facts, err := canon.Marshal(factsForm(h))
	if err != nil {
		return runfile.End{}, err
	}
	end := runfile.End{Facts: facts, At: at}
	for _, cause := range []error{h.boxError, h.transcript.Err(), h.judgeError} {
		if cause != nil {
			end.Cause = canon.Text([]byte(cause.Error()))
			break
		}
	}
	for i := range h.transcript.Exchanges {
		e := &h.transcript.Exchanges[i]
		end.Exchanges = append(end.Exchanges, runfile.Exchange{Seq: e.Seq, Request: e.Request, Effective: e.Effective, Response: e.Response, Meta: e.Meta()})
	}
	return end, nil
}
