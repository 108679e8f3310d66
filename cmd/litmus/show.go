package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"litmus/runner"
)

func newShow() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show RUN [INSTANCE]",
		Short: "Show a run as a whole, or everything on one instance",
		Long: `Show prints what a run file says: its instrument, subject and counts; or, with the
id of an instance, its manifest line, every attempt with every exchange, the
evidence, the judge's input and the verdict. Bytes that an agent chose are shown
escaped; --json has bodies in base64.`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return showRun(c, args[0], asJSON)
			}
			return showInstance(c, args[0], args[1], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

func showRun(c *cobra.Command, path string, asJSON bool) error {
	s, err := runner.Summarize(c.Context(), path)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if asJSON {
		return printJSON(w, s)
	}
	state := "not sealed: go on with litmus run --resume"
	if s.Sealed {
		state = "sealed, root " + s.Root
	}
	fmt.Fprintf(w, "%s  %s\n", printableLine(s.Path), state)
	fmt.Fprintf(w, "suite     %s\nmanifest  %s\nmodel     %s\n\n", printableLine(s.Name), s.Manifest, modelName(s.Model, s.Simulated))
	section(w, "instrument", s.Instrument)
	section(w, "subject", s.Subject)
	printCounts(w, s.Counts)
	for _, kind := range sortedKeys(s.Counts.Hallucinations) {
		fmt.Fprintf(w, "\n%s: %d instances", kind, s.Counts.Hallucinations[kind])
	}
	if len(s.Counts.Hallucinations) > 0 {
		fmt.Fprintln(w)
	}
	return nil
}

func showInstance(c *cobra.Command, path, instance string, asJSON bool) error {
	d, err := runner.Inspect(c.Context(), path, instance)
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if asJSON {
		return printJSON(w, d)
	}
	table(w, [][]string{
		{"instance", d.Row.Instance}, {"category", d.Row.Category}, {"disposition", d.Row.Disposition + " " + d.Row.Reason},
		{"said", d.Row.Semantic}, {"did", d.Row.Physical}, {"label", d.Row.Label + " " + d.Row.Class}, {"contradiction", d.Row.Hallucination},
	})
	fmt.Fprintln(w)
	for _, a := range d.Attempts {
		printAttempt(w, a)
	}
	section(w, "evidence", d.Evidence)
	section(w, "judge input", d.JudgeInput)
	section(w, "record", d.Record)
	section(w, "manifest line", d.Manifest)
	text(w, "stdout", d.Stdout)
	text(w, "stderr", d.Stderr)
	return nil
}

func printAttempt(w io.Writer, a runner.AttemptDetail) {
	fmt.Fprintf(w, "attempt %d  %s", a.N, a.State)
	if a.Cause != "" {
		fmt.Fprintf(w, "  %s", printableLine(a.Cause))
	}
	if !a.Won {
		fmt.Fprint(w, "  (not the one that counts)")
	}
	fmt.Fprintf(w, "\n\n")
	for _, e := range a.Exchanges {
		text(w, fmt.Sprintf("exchange %d: request of the agent", e.Seq), e.Request)
		text(w, fmt.Sprintf("exchange %d: answer", e.Seq), e.Response)
	}
	section(w, "facts of the attempt", a.Facts)
}

// section prints a JSON document under a heading, indented.
func section(w io.Writer, name string, doc json.RawMessage) {
	if len(doc) == 0 {
		return
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetIndent("  ", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		b.WriteString(string(doc))
	}
	fmt.Fprintf(w, "%s\n  %s\n\n", name, strings.TrimSpace(printable(b.String())))
}

func text(w io.Writer, name string, body []byte) {
	if len(body) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n  %s\n\n", name, strings.ReplaceAll(strings.TrimRight(printable(string(body)), "\n"), "\n", "\n  "))
}
