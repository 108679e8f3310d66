package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"litmus/runner"
	"litmus/sandbox"
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
			printReclaimed(c, r)
			return nil
		},
	}
	boxes.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func printReclaimed(c *cobra.Command, r sandbox.Reclaimed) {
	rows := [][]string{{"REMOVED", ""}}
	for _, kind := range []struct {
		name string
		n    int
	}{
		{"tasks", r.Tasks}, {"containers", r.Containers}, {"shims", r.Shims}, {"processes", r.Processes}, {"cgroups", r.Cgroups},
		{"mounts", r.Mounts}, {"snapshots", r.Snapshots}, {"leases", r.Leases}, {"directories", r.Directories},
	} {
		if kind.n > 0 {
			rows = append(rows, []string{kind.name, strconv.Itoa(kind.n)})
		}
	}
	if len(rows) == 1 {
		fmt.Fprintln(c.OutOrStdout(), "nothing is left behind")
	} else {
		table(c.OutOrStdout(), rows, 1)
	}
	for _, owner := range r.Unclear {
		printWarning(c.ErrOrStderr(), "left alone, because it can't be told whether its owner is alive: %s", owner)
	}
}
