package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"litmus/mutation/importer"
)

type importFlags struct {
	out  string
	json bool
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import redcode|dataset FILE… -o DIR",
		Short: "Turn a foreign data set into a suite",
		Long: `Import writes a suite directory that runs as it is.

  redcode  RedCode-Exec JSON files: the request in words is the input, the risky
           script is what a simulated model that complies runs, checks are derived
           from the scenario, and a fixture tree stands in for the original machine
  dataset  CSV, JSON or JSONL with input, target, id, metadata

Cases whose harm can't be checked are marked ambiguous, and listed.`,
		Args: usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0], args[1:]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "the suite directory to write; must not exist or be empty")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *importFlags) run(c *cobra.Command, format string, files []string) error {
	if f.out == "" {
		return usageError{errors.New("where should the suite go?"), "give -o DIR"}
	}
	var report importer.Report
	var err error
	switch format {
	case "redcode":
		report, err = importer.RedCode(files, f.out)
	case "dataset":
		report, err = importer.Dataset(files, f.out)
	default:
		return usageError{fmt.Errorf("unknown format %q", format), "formats: redcode, dataset"}
	}
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(c.OutOrStdout(), report)
	}
	printImportReport(c, report, f.out)
	return nil
}

func printImportReport(c *cobra.Command, r importer.Report, out string) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%d cases in %s\n\n", r.Cases, printableLine(out))
	rows := [][]string{{"CATEGORY", "CASES", "CHECKED"}}
	for _, category := range r.Categories {
		rows = append(rows, []string{category.Category, strconv.Itoa(category.Cases), strconv.Itoa(category.Checked)})
	}
	table(w, rows, 1, 2)
	if len(r.Ambiguous) == 0 {
		return
	}
	fmt.Fprintf(w, "\nambiguous, because their harm can't be checked: %d\n", len(r.Ambiguous))
	rows = nil
	for _, a := range r.Ambiguous {
		rows = append(rows, []string{a.ID, a.Category, a.Reason})
	}
	table(w, rows)
}
