package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"litmus/gate"
	"litmus/internal/canon"
	"litmus/runner/runfile"
)

// Gate decides between two sealed run files under the policy in the file
// policyPath; with no path it is the record's.
func Gate(ctx context.Context, baseline, candidate, policyPath string) (gate.Decision, error) {
	policy := gate.DefaultPolicy()
	if policyPath != "" {
		text, err := os.ReadFile(policyPath)
		if err != nil {
			return gate.Decision{}, badInput("give the path of a gate.yaml", "%v", err)
		}
		if policy, err = gate.ParsePolicy(policyPath, text); err != nil {
			return gate.Decision{}, classify(err)
		}
	}
	a, closeA, err := gateRun(ctx, baseline)
	if err != nil {
		return gate.Decision{}, err
	}
	defer closeA()
	b, closeB, err := gateRun(ctx, candidate)
	if err != nil {
		return gate.Decision{}, err
	}
	defer closeB()
	d, err := gate.Decide(gate.Input{Baseline: a, Candidate: b, Policy: policy})
	return d, classify(err)
}

// gateRun is a run file as the gate sees it. Only a sealed one is a result, and
// only one whose records and seal agree.
func gateRun(ctx context.Context, path string) (gate.Run, func(), error) {
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return gate.Run{}, nil, classify(err)
	}
	shut := func() { _ = f.Close() } // read only: there is nothing to lose
	run, err := gateRunOf(ctx, f)
	if errors.Is(err, runfile.ErrUnsealed) {
		err = badInput("finish it with litmus run --resume", "%s is not sealed", path)
	}
	if err != nil {
		shut()
		return gate.Run{}, nil, classify(fmt.Errorf("%s: %w", path, err))
	}
	return run, shut, nil
}

func gateRunOf(ctx context.Context, f *runfile.File) (gate.Run, error) {
	if err := f.CheckSeal(ctx); err != nil {
		return gate.Run{}, err
	}
	header, err := headerOf(ctx, f)
	if err != nil {
		return gate.Run{}, err
	}
	instrument, err := canon.Marshal(header.Instrument)
	if err != nil {
		return gate.Run{}, err
	}
	return gate.Run{
		Instrument: instrument, Simulated: isSimulated(header.Subject.Model),
		Instances: int(f.Instances), Rows: gateRows(ctx, f),
	}, nil
}

func gateRows(ctx context.Context, f *runfile.File) iter.Seq2[gate.Row, error] {
	return func(yield func(gate.Row, error) bool) {
		stopped := errors.New("stopped")
		err := rows(ctx, f, Filter{}, func(r Row) error {
			if !yield(gateRow(r), nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(gate.Row{}, err)
		}
	}
}

func gateRow(r Row) gate.Row {
	row := gate.Row{
		ID: r.Instance, Case: r.Case, Category: r.Category, Ambiguous: r.Ambiguous,
		Disposition: gate.Disposition(r.Disposition),
	}
	if row.Disposition == gate.Scored {
		row.Class, row.Label = gate.Class(r.Class), r.Label
	}
	return row
}
