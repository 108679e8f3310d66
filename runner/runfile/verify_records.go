package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"litmus/internal/digest"
)

// attempts checks what was written ahead: the tokens, the numbering, and that
// nothing is still running.
func (v *verifier) attempts(ctx context.Context) error {
	var last string
	var n int64
	return each(ctx, v.conn, `
		SELECT instance.id, n, token, state, facts, judge_input.hash
		FROM attempt
		JOIN instance ON instance.ordinal = attempt.instance
		LEFT JOIN judge_input ON judge_input.attempt = attempt.id
		ORDER BY attempt.instance, n`, func(s scanner) error {
		var number int64
		var instance, state string
		var token, judgeInput digest.Hash
		var facts []byte
		if err := s.Scan(&instance, &number, scanHash{&token}, &state, &facts, scanHash{&judgeInput}); err != nil {
			return err
		}
		v.report.Attempts++
		if instance != last {
			last, n = instance, 0
		}
		n++
		where := fmt.Sprintf("attempt %d of %s", number, instance)
		if number != n {
			v.find(where, "its number should be %d", n)
		}
		if token != Token(v.ManifestID, instance) {
			v.find(where, "its token is not that of the instance")
		}
		if state == "started" {
			v.find(where, "it has not ended, in a run that is sealed")
		}
		if facts != nil {
			if err := checkFacts(facts); err != nil {
				v.find(where, "%v", err)
			}
		}
		if judgeInput.IsZero() {
			return nil
		}
		return v.lookAt(ctx, where, "judge input", judgeInput)
	})
}

// exchanges checks that the bytes of each request and response are there.
func (v *verifier) exchanges(ctx context.Context) error {
	return each(ctx, v.conn, `
		SELECT instance.id, n, seq, request, effective, response, meta
		FROM exchange
		JOIN attempt ON attempt.id = exchange.attempt
		JOIN instance ON instance.ordinal = attempt.instance
		ORDER BY exchange.attempt, seq`, func(s scanner) error {
		var instance string
		var n, seq int64
		var hashes [3]digest.Hash
		var meta []byte
		if err := s.Scan(&instance, &n, &seq, scanHash{&hashes[0]}, scanHash{&hashes[1]}, scanHash{&hashes[2]}, &meta); err != nil {
			return err
		}
		where := fmt.Sprintf("exchange %d of attempt %d of %s", seq, n, instance)
		if err := checkFacts(meta); err != nil {
			v.find(where, "%v", err)
		}
		for i, what := range []string{"request", "effective request", "response"} {
			if hashes[i].IsZero() {
				continue
			}
			if err := v.lookAt(ctx, where, what, hashes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// records goes through the manifest's rows and their records in order, and
// builds the tree over them.
func (v *verifier) records(ctx context.Context) error {
	var err error
	if v.named, err = newNamed(ctx, v.conn); err != nil {
		return err
	}
	manifest := &lineReader{q: v.conn, codec: v.codec}
	return each(ctx, v.conn, `
		SELECT ordinal, instance.id, offset, length, canonical, attempt.instance, judge_input.hash
		FROM instance
		LEFT JOIN record ON record.instance = ordinal
		LEFT JOIN attempt ON attempt.id = record.attempt
		LEFT JOIN judge_input ON judge_input.attempt = record.attempt
		ORDER BY ordinal`, func(s scanner) error {
		var p place
		var canonical []byte
		var winner sql.NullInt64
		var judgeInput digest.Hash
		if err := s.Scan(&p.ordinal, &p.id, &p.offset, &p.length, &canonical, &winner, scanHash{&judgeInput}); err != nil {
			return err
		}
		where := "record " + p.id
		if canonical == nil {
			v.find(where, "the manifest's row has no record")
			return nil
		}
		v.report.Records++
		v.tree.add(canonical)
		r, err := ParseRecord(canonical)
		if err != nil {
			v.find(where, "%v", err)
			v.unreadable = true
			return nil
		}
		if err := v.identity(ctx, manifest, where, p, r); err != nil {
			return err
		}
		switch {
		case winner.Valid && winner.Int64 != p.ordinal:
			v.find(where, "the attempt that it came of is one of another instance")
		case !winner.Valid && r.Disposition != NotRun:
			v.find(where, "no attempt that it could have come of")
		case !r.JudgeInput.IsZero() && r.JudgeInput != judgeInput:
			v.find(where, "its judge input is not the one that was recorded before judging")
		}
		return v.contents(ctx, where, r)
	})
}

// identity holds a record against its row of the manifest.
func (v *verifier) identity(ctx context.Context, manifest *lineReader, where string, p place, r Record) error {
	if r.Instance != p.id {
		v.find(where, "it says it is of instance %q", r.Instance)
	}
	if r.Token != Token(v.ManifestID, p.id) {
		v.find(where, "its token is not that of the instance")
	}
	line, err := manifest.read(ctx, p.offset, p.length)
	if errors.Is(err, ErrDamaged) {
		v.find(where, "its line of the manifest: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	row, err := parseRow(line)
	if err != nil {
		v.find(where, "its line of the manifest: %v", err)
	} else if row.MutationHash != r.MutationHash {
		v.find(where, "mutation_hash is %s, the manifest has %s", r.MutationHash, row.MutationHash)
	}
	return nil
}

// contents checks the blobs that a record names, and derives its verdict again.
func (v *verifier) contents(ctx context.Context, where string, r Record) error {
	for _, hash := range r.blobs() {
		if err := v.named.add(ctx, hash); err != nil {
			return err
		}
		if err := v.lookAt(ctx, where, r.nameOf(hash), hash); err != nil {
			return err
		}
	}
	if r.Verdict == nil || v.hooks.Rejudge == nil {
		return nil
	}
	input, err := v.Blob(ctx, r.JudgeInput)
	if errors.Is(err, ErrNoBlob) || errors.Is(err, ErrDamaged) {
		return nil // lookAt has said so
	}
	if err != nil {
		return err
	}
	verdict, err := v.hooks.Rejudge(r.Instance, input)
	switch {
	case err != nil:
		v.find(where, "judge again: %v", err)
	case verdict != *r.Verdict:
		v.find(where, "verdict is %s, its judge input yields %s", *r.Verdict, verdict)
	default:
		v.report.Rejudged++
	}
	return nil
}

// nameOf says which member of r names the blob.
func (r Record) nameOf(hash digest.Hash) string {
	switch {
	case hash == r.Evidence:
		return "evidence"
	case hash == r.Transcript:
		return "transcript"
	case hash == r.JudgeInput:
		return "judge input"
	case r.Stdout != nil && hash == r.Stdout.Kept():
		return "stdout"
	default:
		return "stderr"
	}
}
