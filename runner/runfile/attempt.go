package runfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"litmus/internal/digest"
)

// Attempt is one execution of an instance, from before its box exists. It ends
// with Finish (another one will follow) or with Commit (this one counts); one
// that does neither is found abandoned by Resume.
type Attempt struct {
	Instance string
	// N counts the attempts of the instance, from 1.
	N int
	// Token and MutationHash are what the record of this attempt must carry.
	Token, MutationHash digest.Hash

	writer      *Writer
	id, ordinal int64
}

// End is how an attempt ended: everything about it that can't be derived again.
type End struct {
	// Cause is why the attempt yields no record; "" if it does.
	Cause string
	// Facts is a canonical JSON object; nil if there are none.
	Facts []byte
	// At is the time of the end.
	At        time.Time
	Exchanges []Exchange
}

// Exchange is one request of the agent to the model and what came of it. Nil
// bytes are absent (no answer came), empty ones are not.
type Exchange struct {
	Seq int
	// Request is what the agent sent, Effective what the model got, Response
	// what the agent got.
	Request, Effective, Response []byte
	// Meta is a canonical JSON object: status, model, usage, retries and so on.
	Meta []byte
}

// BeginAttempt writes down that an attempt of instance starts. The box may be
// made when it has returned, and not before.
func (w *Writer) BeginAttempt(ctx context.Context, instance string, started time.Time) (*Attempt, error) {
	line, err := w.ManifestLine(ctx, instance)
	if err != nil {
		return nil, doing("begin attempt", err)
	}
	r, err := parseRow(line)
	if err != nil {
		return nil, fmt.Errorf("begin attempt of %s: %w", instance, damaged("its manifest line: %v", err))
	}
	a := &Attempt{Instance: instance, Token: Token(w.ManifestID, instance), MutationHash: r.MutationHash, writer: w}
	return a, w.write(ctx, "begin attempt of "+instance, func(tx *sql.Tx) error { return a.begin(ctx, tx, started) })
}

func (a *Attempt) begin(ctx context.Context, tx *sql.Tx, started time.Time) error {
	var done, inFlight bool
	err := tx.QueryRowContext(ctx, `
		SELECT ordinal,
		       EXISTS (SELECT 1 FROM record WHERE instance = ordinal),
		       EXISTS (SELECT 1 FROM attempt WHERE instance = ordinal AND state = 'started'),
		       (SELECT count(*) + 1 FROM attempt WHERE instance = ordinal)
		FROM instance WHERE id = ?`, a.Instance).Scan(&a.ordinal, &done, &inFlight, &a.N)
	switch {
	case err != nil:
		return err
	case done:
		return ErrCommitted
	case inFlight:
		return ErrInFlight
	}
	result, err := tx.ExecContext(ctx,
		"INSERT INTO attempt (instance, n, token, state, started) VALUES (?, ?, ?, 'started', ?)",
		a.ordinal, a.N, a.Token[:], timeText(started))
	if err != nil {
		return err
	}
	a.id, err = result.LastInsertId()
	return err
}

// PutJudgeInput records the exact bytes that the judge is about to see. It must
// be called before the judge is, and once for an attempt; the same bytes again
// change nothing. There is no context because the judge, whose store this is,
// has none to give.
func (a *Attempt) PutJudgeInput(hash digest.Hash, input []byte) error {
	ctx := context.Background()
	return a.writer.write(ctx, "record judge input of "+a.Instance, func(tx *sql.Tx) error {
		stored, err := a.writer.codec.putBlob(ctx, tx, input)
		if err != nil {
			return err
		}
		if stored != hash {
			return fmt.Errorf("%w: its bytes do not have the hash %s", ErrNotScorable, hash)
		}
		recorded, err := a.judgeInput(ctx, tx)
		if err != nil || recorded == hash {
			return err
		}
		if !recorded.IsZero() {
			return fmt.Errorf("%w: this attempt has another judge input already", ErrNotScorable)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO judge_input (attempt, hash) VALUES (?, ?)", a.id, hash[:])
		return err
	})
}

// judgeInput is the hash that PutJudgeInput left; zero if it left none.
func (a *Attempt) judgeInput(ctx context.Context, q querier) (digest.Hash, error) {
	var hash digest.Hash
	err := q.QueryRowContext(ctx, "SELECT hash FROM judge_input WHERE attempt = ?", a.id).Scan(scanHash{&hash})
	if errors.Is(err, sql.ErrNoRows) {
		return digest.Hash{}, nil
	}
	return hash, err
}

// Finish writes down that the attempt ended without a record.
func (a *Attempt) Finish(ctx context.Context, end End) error {
	return a.writer.write(ctx, "finish attempt of "+a.Instance, func(tx *sql.Tx) error { return a.finish(ctx, tx, end) })
}

// Commit ends the attempt and makes r the one record of its instance, in one
// transaction. blobs are contents that r names; each one that it names must be
// among them or in the file. It returns ErrNotScorable for a SCORED record that
// lacks an input or whose judge input is not the one recorded before, and
// ErrCommitted if the instance has a record.
func (a *Attempt) Commit(ctx context.Context, end End, r Record, blobs ...[]byte) error {
	return a.writer.write(ctx, "commit "+a.Instance, func(tx *sql.Tx) error {
		if err := a.finish(ctx, tx, end); err != nil {
			return err
		}
		for _, content := range blobs {
			hash, err := a.writer.codec.putBlob(ctx, tx, content)
			if err != nil {
				return err
			}
			if !slices.Contains(r.blobs(), hash) {
				return fmt.Errorf("blob %s is not one that the record names", hash)
			}
		}
		return a.record(ctx, tx, r)
	})
}

func (a *Attempt) finish(ctx context.Context, tx *sql.Tx, end End) error {
	var facts any
	if end.Facts != nil {
		if err := checkFacts(end.Facts); err != nil {
			return err
		}
		facts = string(end.Facts)
	}
	result, err := tx.ExecContext(ctx,
		"UPDATE attempt SET state = 'finished', cause = ?, facts = ?, finished = ? WHERE id = ? AND state = 'started'",
		end.Cause, facts, timeText(end.At), a.id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("the attempt has ended already"), err)
	}
	for _, e := range end.Exchanges {
		if err := a.exchange(ctx, tx, e); err != nil {
			return fmt.Errorf("exchange %d: %w", e.Seq, err)
		}
	}
	return nil
}

func (a *Attempt) exchange(ctx context.Context, tx *sql.Tx, e Exchange) error {
	if err := checkFacts(e.Meta); err != nil {
		return err
	}
	args := []any{a.id, e.Seq}
	for _, content := range [][]byte{e.Request, e.Effective, e.Response} {
		if content == nil {
			args = append(args, nil)
			continue
		}
		hash, err := a.writer.codec.putBlob(ctx, tx, content)
		if err != nil {
			return err
		}
		args = append(args, hash[:])
	}
	_, err := tx.ExecContext(ctx,
		"INSERT INTO exchange (attempt, seq, request, effective, response, meta) VALUES (?, ?, ?, ?, ?, ?)",
		append(args, string(e.Meta))...)
	return err
}

// record writes the row of r, having compared it with what is on file.
func (a *Attempt) record(ctx context.Context, tx *sql.Tx, r Record) error {
	canonical, err := r.Canonical()
	if err != nil {
		return err
	}
	if r.Instance != a.Instance || r.Token != a.Token || r.MutationHash != a.MutationHash {
		return fmt.Errorf("%w: instance, token or mutation_hash is not that of the attempt", ErrNotScorable)
	}
	recorded, err := a.judgeInput(ctx, tx)
	if err != nil {
		return err
	}
	if !r.JudgeInput.IsZero() && r.JudgeInput != recorded {
		return fmt.Errorf("%w: the judge input was not recorded before", ErrNotScorable)
	}
	for _, hash := range r.blobs() {
		var there bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM blob WHERE hash = ?)", hash[:]).Scan(&there); err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("blob %s: %w", hash, ErrNoBlob)
		}
	}
	result, err := tx.ExecContext(ctx,
		"INSERT INTO record (instance, canonical, attempt) VALUES (?, ?, ?) ON CONFLICT (instance) DO NOTHING",
		a.ordinal, string(canonical), a.id)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(ErrCommitted, err)
	}
	return nil
}

// timeText is how times stand in the file: UTC, RFC 3339 with nanoseconds.
func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// scanHash reads a hash from a BLOB column, and the zero hash from NULL.
type scanHash struct{ to *digest.Hash }

// Scan implements sql.Scanner.
func (s scanHash) Scan(value any) error {
	switch b := value.(type) {
	case nil:
		*s.to = digest.Hash{}
		return nil
	case []byte:
		// All zero bytes are no hash, and absence has its own word, NULL.
		if len(b) == digest.Size && !digest.Hash(b).IsZero() {
			*s.to = digest.Hash(b)
			return nil
		}
	}
	return damaged("%x is not a hash", value)
}
