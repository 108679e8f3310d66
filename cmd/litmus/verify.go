package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"litmus/runner"
)

func newVerify() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify FILE…",
		Short: "Recompute every hash and every verdict of run files and manifests",
		Long: `Verify trusts nothing in a file: it recomputes the manifest's id and every
mutation's hash, every blob, every record, the seal, and judges every recorded
judge input again. It names each record that does not add up.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return runVerify(c, args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func runVerify(c *cobra.Command, files []string, asJSON bool) error {
	var all []runner.Verification
	ok := true
	for _, file := range files {
		v, err := runner.Verify(c.Context(), file)
		if err != nil {
			return err
		}
		ok = ok && v.OK
		all = append(all, v)
	}
	if asJSON {
		if err := printJSON(c.OutOrStdout(), all); err != nil {
			return err
		}
	} else {
		for _, v := range all {
			printVerification(c, v)
		}
	}
	if !ok {
		return decision(exitBadInput)
	}
	return nil
}

func printVerification(c *cobra.Command, v runner.Verification) {
	w := c.OutOrStdout()
	if v.OK {
		fmt.Fprintf(w, "%s  ok  %s %s  %d instances, %d verdicts judged again\n", printableLine(v.Path), v.Kind, v.ID, v.Instances, v.Rejudged)
		return
	}
	fmt.Fprintf(w, "%s  DOES NOT VERIFY\n", printableLine(v.Path))
	for _, f := range v.Findings {
		fmt.Fprintf(w, "  %s: %s\n", printableLine(f.Where), printableLine(f.Msg))
	}
}
