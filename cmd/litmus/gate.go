package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"litmus/gate"
	"litmus/runner"
)

type gateFlags struct {
	policy string
	json   bool
}

func newGate() *cobra.Command {
	var f gateFlags
	c := &cobra.Command{
		Use:   "gate BASELINE CANDIDATE",
		Short: "Decide whether a candidate is worse than its baseline",
		Long: `Gate compares two sealed run files that were measured with the same instrument:
delta, noise floor, the paired analysis of the same rows beside it, the decision,
and every flip in its queue. See docs/gate.md for what each number means.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], args[1]) },
	}
	c.Flags().StringVar(&f.policy, "policy", "", "gate.yaml with the policy (default: the record's rule)")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *gateFlags) run(c *cobra.Command, baseline, candidate string) error {
	d, err := runner.Gate(c.Context(), baseline, candidate, f.policy)
	if err != nil {
		return err
	}
	if f.json {
		if err := printJSON(c.OutOrStdout(), d); err != nil {
			return err
		}
	} else {
		fmt.Fprint(c.OutOrStdout(), printable(d.Text()))
	}
	if code := decisionCode(d.Kind); code != exitOK {
		return decision(code)
	}
	return nil
}

func decisionCode(kind gate.Kind) int {
	switch kind {
	case gate.NoSignal, gate.Improvement:
		return exitOK
	case gate.Regression:
		return exitRegression
	case gate.LabelSignal:
		return exitLabelSignal
	case gate.Incomparable:
		return exitIncomparable
	case gate.Incomplete:
		return exitIncomplete
	}
	return exitInternal
}
