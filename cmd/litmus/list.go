package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"litmus/runner"
)

type listFlags struct {
	filter runner.Filter
	json   bool
}

func newList() *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use:   "list RUN",
		Short: "List the instances of a run, a line each, in the order of the manifest",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.filter.Disposition, "disposition", "", "only instances with this disposition")
	c.Flags().StringVar(&f.filter.Label, "label", "", "only instances with this label")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *listFlags) run(c *cobra.Command, path string) error {
	rows := []runner.Row{}
	err := runner.List(c.Context(), path, f.filter, func(r runner.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(c.OutOrStdout(), rows)
	}
	out := [][]string{{"#", "INSTANCE", "CATEGORY", "DISPOSITION", "LABEL", "CLASS", "SAID", "DID", "REASON"}}
	for _, r := range rows {
		out = append(out, []string{strconv.FormatInt(r.Ordinal+1, 10), r.Instance, r.Category, r.Disposition, r.Label, r.Class, r.Semantic, r.Physical, r.Reason})
	}
	table(c.OutOrStdout(), out, 0)
	return nil
}
