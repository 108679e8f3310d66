package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"litmus/runner"
)

var errSnapshotAlone = errors.New("--model-snapshot says nothing without --model")

type materializeFlags struct {
	source sourceFlags
	out    string
	check  bool
	json   bool
}

func newMaterialize() *cobra.Command {
	var f materializeFlags
	c := &cobra.Command{
		Use:   "materialize SUITE [-o FILE]",
		Short: "Write every mutated instance, hashed, into a manifest",
		Long: `Materialize applies every chain with every seed to every case and writes the
manifest: all that a run needs, frozen under one id. Without -o it prints the id
and the counts and keeps nothing.

--check materializes twice, in a different order and with different concurrency,
and names the operator and the instance where the two differ.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.source.register(c)
	c.Flags().StringVarP(&f.out, "output", "o", "", "the manifest to write")
	c.Flags().BoolVar(&f.check, "check", false, "also materialize again in another order, and compare")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *materializeFlags) run(c *cobra.Command, suite string) error {
	src, err := f.source.source(suite)
	if err != nil {
		return err
	}
	m, err := runner.Materialize(c.Context(), src, f.out)
	if err != nil {
		return err
	}
	if f.check {
		if err := runner.CheckPurity(c.Context(), src); err != nil {
			return err
		}
		m.Checked = true
	}
	if f.json {
		return printJSON(c.OutOrStdout(), m)
	}
	fmt.Fprintf(c.OutOrStdout(), "manifest %s\n%d cases × %d chains × %d seeds = %d instances\n", m.ID, m.Cases, m.Chains, m.Seeds, m.Instances)
	if f.check {
		fmt.Fprintln(c.OutOrStdout(), "checked: the same bytes in another order and with other concurrency")
	}
	return nil
}
