package main

import (
	"github.com/spf13/cobra"

	"litmus/runner"
)

func newDoctor() *cobra.Command {
	var boxes boxFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine lacks, and the command that mends it",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := boxes.boxes()
			if err != nil {
				return err
			}
			findings := runner.Doctor(c.Context(), b)
			ok := true
			rows := [][]string{{"CHECK", "", "DETAIL", "FIX"}}
			for _, f := range findings {
				mark := "ok"
				if !f.OK {
					mark, ok = "MISSING", false
				}
				rows = append(rows, []string{f.Name, mark, f.Detail, f.Fix})
			}
			if asJSON {
				if err := printJSON(c.OutOrStdout(), findings); err != nil {
					return err
				}
			} else {
				table(c.OutOrStdout(), rows)
			}
			if !ok {
				return decision(exitBadInput)
			}
			return nil
		},
	}
	boxes.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
