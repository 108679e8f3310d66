package main

import (
	"github.com/spf13/cobra"

	"litmus/runner"
)

// sourceFlags say what is run: a suite with some of its settings overridden.
type sourceFlags struct {
	model, snapshot string
	seeds           []int64
}

func (f *sourceFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.model, "model", "", "the model to use instead of the suite's")
	c.Flags().StringVar(&f.snapshot, "model-snapshot", "", "the snapshot of --model, as its provider names it (default: the model's name)")
	c.Flags().Int64SliceVar(&f.seeds, "seeds", nil, "seeds to use instead of the suite's, as 1,2,3")
}

func (f *sourceFlags) source(path string) (runner.Source, error) {
	if f.snapshot != "" && f.model == "" {
		return runner.Source{}, usageError{errSnapshotAlone, "give --model too"}
	}
	return runner.Source{Path: path, Model: f.model, ModelSnapshot: f.snapshot, Seeds: f.seeds}, nil
}
