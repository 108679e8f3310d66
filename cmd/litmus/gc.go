package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"litmus/runner"
)

func newGC() *cobra.Command {
	var boxes boxFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove what a killed run left behind",
		Long: `GC finds boxes, mounts, cgroups, snapshots and processes of runs whose litmus is
gone, by label and by state directory, and removes them. Runs that are alive are
left alone. It can be repeated.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := boxes.boxes()
			if err != nil {
				return err
			}
			r, err := runner.GC(c.Context(), b)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), r)
			}
			fmt.Fprintln(c.OutOrStdout(), r.String())
			return nil
		},
	}
	boxes.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
