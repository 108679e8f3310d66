package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"litmus/runner"
)

type runFlags struct {
	boxes     boxFlags
	source    sourceFlags
	out       string
	limit     string
	instances []string
	parallel  int
	shuffle   uint64
	resume    bool
	json      bool
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run SUITE|MANIFEST -o NAME.litmus",
		Short: "Run every instance in a box of its own, judge it, and seal the results",
		Long: `Run materializes the suite (or takes a manifest as it is), runs each instance in a
fresh box, judges it from recorded evidence, and writes one sealed run file.

Progress goes to stderr. --model overrides the suite's model: sim:guarded,
sim:naive or sim:RATE for a simulated one, openai/NAME for any server that speaks
the OpenAI format (OPENAI_BASE_URL, OPENAI_API_KEY).`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.boxes.register(c)
	f.source.register(c)
	flags := c.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "the run file to write")
	flags.StringVar(&f.limit, "limit", "", "run only the first N instances, or A-B (counted from 1)")
	flags.StringArrayVar(&f.instances, "instance", nil, "run only this instance (repeat for more); the id is taken as it is")
	flags.IntVar(&f.parallel, "max-sandboxes", 0, "boxes at the same time (default: two for each processor)")
	flags.Uint64Var(&f.shuffle, "shuffle", 0, "run in an order drawn from this number instead of the manifest's; changes no result")
	flags.BoolVar(&f.resume, "resume", false, "go on with a run file that is not sealed yet")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	return c
}

func (f *runFlags) run(c *cobra.Command, source string) error {
	if f.out == "" {
		return usageError{errors.New("where should the run file go?"), "give -o NAME.litmus"}
	}
	if c.Flags().Changed("max-sandboxes") && f.parallel < 1 {
		return usageError{fmt.Errorf("--max-sandboxes %d makes no box", f.parallel), "give a number from 1 up, or leave it out"}
	}
	first, last, err := parseLimit(f.limit)
	if err != nil {
		return err
	}
	boxes, err := f.boxes.boxes()
	if err != nil {
		return err
	}
	src, err := f.source.source(source)
	if err != nil {
		return err
	}
	bar := newProgress(c.ErrOrStderr())
	opts := runner.Options{
		Source: src, Out: f.out, Boxes: boxes, Resume: f.resume, MaxSandboxes: f.parallel,
		Select:     runner.Selection{First: first, Last: last, Instances: f.instances},
		Upstream:   upstreamFromEnvironment(),
		OnProgress: bar.update,
		OnSelect: func(selected, total int) {
			fmt.Fprintf(c.ErrOrStderr(), "%d of %d instances selected\n", selected, total)
		},
	}
	if c.Flags().Changed("shuffle") {
		opts.Shuffle = &f.shuffle
	}
	result, err := runner.Run(c.Context(), opts)
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		printWarning(c.ErrOrStderr(), "%s", w)
	}
	if f.json {
		return printJSON(c.OutOrStdout(), result)
	}
	printRunResult(c.OutOrStdout(), result)
	return nil
}

func printRunResult(w io.Writer, r runner.Result) {
	fmt.Fprintf(w, "%s  sealed  root %s\n", printableLine(r.Path), r.Root)
	fmt.Fprintf(w, "manifest  %s\n", r.Manifest)
	fmt.Fprintf(w, "model     %s\n\n", modelName(r.Model, r.Simulated))
	printCounts(w, r.Counts)
}

// modelName never lets a simulated model pass for a real one.
func modelName(model string, simulated bool) string {
	if simulated {
		return printableLine(model) + " (simulated)"
	}
	return printableLine(model)
}

func printCounts(w io.Writer, counts runner.Counts) {
	rows := [][]string{{"DISPOSITION", "INSTANCES"}}
	for _, name := range sortedKeys(counts.Dispositions) {
		rows = append(rows, []string{name, strconv.Itoa(counts.Dispositions[name])})
	}
	rows = append(rows, []string{"total", strconv.Itoa(counts.Total)})
	table(w, rows, 1)
	fmt.Fprintln(w)
	rows = [][]string{{"CATEGORY", "SCORED", "SAFE", "UNSAFE", "GAP"}}
	for _, c := range counts.Categories {
		rows = append(rows, []string{c.Name, strconv.Itoa(c.Scored), strconv.Itoa(c.Safe), strconv.Itoa(c.Unsafe), strconv.Itoa(c.Gap)})
	}
	table(w, rows, 1, 2, 3, 4)
}

// parseLimit reads N or A-B; 0, 0 means no limit.
func parseLimit(s string) (first, last int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	bad := usageError{fmt.Errorf("--limit %q is neither N nor A-B", s), "for example --limit 10, or --limit 10-20; counted from 1"}
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		from, to = "1", from
	}
	first, err = strconv.Atoi(from)
	if err != nil || first < 1 {
		return 0, 0, bad
	}
	last, err = strconv.Atoi(to)
	if err != nil || last < first {
		return 0, 0, bad
	}
	return first, last, nil
}

// upstreamFromEnvironment reads where a real model is. The key goes to the
// upstream alone: never into a box, a run file or an error.
func upstreamFromEnvironment() runner.Upstream {
	base := os.Getenv("OPENAI_BASE_URL")
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	return runner.Upstream{OpenAIBaseURL: base, OpenAIKey: os.Getenv("OPENAI_API_KEY"), Client: http.DefaultClient}
}
