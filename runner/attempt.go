package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/gateway"
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// attempt runs one instance once. The order is the law: the attempt is written
// down before its box exists, the box is dead before anything is judged, the
// judge input is on the disk before the judge sees it, and the record is one
// transaction. An error is the harness's own and ends the run; whatever the agent,
// the model or the box did is in the record.
func (r *run) attempt(ctx context.Context, in mutation.Instance) (runfile.Disposition, error) {
	a, err := r.file.BeginAttempt(ctx, in.ID.String(), time.Now())
	if err != nil {
		return "", err
	}
	h, err := r.happen(ctx, a, in)
	if ctx.Err() != nil {
		// The attempt stays on record as one that did not end; --resume makes another.
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("attempt of %s: %w", a.Instance, err)
	}
	record, err := r.score(a, in, h)
	if err != nil {
		return "", fmt.Errorf("score %s: %w", a.Instance, err)
	}
	end, err := h.end(time.Now())
	if err != nil {
		return "", err
	}
	return record.Disposition, a.Commit(ctx, end, record, h.blobs(record)...)
}

// happen makes the gateway and the box, and waits until both are gone.
func (r *run) happen(ctx context.Context, a *runfile.Attempt, in mutation.Instance) (_ *happening, err error) {
	upstream, model, err := r.upstream(in)
	if err != nil {
		return nil, err
	}
	socket := r.boxes.engine.SocketPath(a.Token.String()[:16])
	spec, err := r.spec(a, in, socket)
	if err != nil {
		return nil, err
	}
	staged, err := sandbox.StagedHash(spec.Tree)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("model gateway: %w", err)
	}
	defer func() {
		if gone := os.Remove(socket); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	asking, giveUp := context.WithCancel(ctx)
	defer giveUp()
	gw, err := gateway.Serve(asking, gateway.Config{
		Listener: listener, Upstream: upstream, Model: model, Sampling: gatewayPins(r.header.Instrument.Sampling, in.ID.Seed),
		MaxTurns: r.header.Instrument.Limits.Turns, MaxTokens: r.header.Instrument.Limits.Tokens, Token: a.Token.String(),
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	h := &happening{staged: staged}
	h.outcome, h.boxError = r.boxes.engine.Run(ctx, spec)
	if h.boxError != nil || h.outcome.Exit.Cause != sandbox.Exited {
		// Nobody waits for the answer any more, and the model may never give one.
		giveUp()
	}
	h.transcript = gw.Close()
	return h, nil
}

// score turns what happened into the one record of the instance.
func (r *run) score(a *runfile.Attempt, in mutation.Instance, h *happening) (runfile.Record, error) {
	disposition, reason := disposition(h)
	record, err := h.record(a, disposition)
	if err != nil {
		return runfile.Record{}, err
	}
	if disposition != runfile.Scored {
		return runfile.NewUnscored(record, disposition, reason)
	}
	recorded, err := judge.Record(judge.Render(material(in, h)), a)
	if err != nil {
		return runfile.Record{}, fmt.Errorf("record the judge input: %w", err)
	}
	verdict, err := r.rubric.Judge(recorded)
	if err != nil {
		// Neither a pass nor a fail nor a gap: the judge could not read its input.
		h.judgeError = err
		return runfile.NewUnscored(bareRecord(a), runfile.Error, reasonJudge)
	}
	v := recordVerdict(verdict)
	record.JudgeInput, record.Verdict = recorded.Hash(), &v
	if !r.header.Instrument.Reproducible {
		return runfile.NewUnscored(record, runfile.NonReproducible, reasonOracle)
	}
	return runfile.NewScored(record)
}
