// Command litmus puts adversarial instances to an AI agent in sandboxed boxes,
// judges what happened, and gates a release on the difference of two runs.
//
// This package is the shell around package runner: one file per verb, each with
// the same shape (a constructor that declares flags, then a run function), the
// one table of exit codes (exit.go) and all text that a person reads on stderr
// (ui.go). It knows nothing of how anything works.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"litmus/sandbox"
)

func main() {
	// The same binary is containerd and its shim: see docs/sandbox-daemon.md.
	if code, ok := sandbox.Reexec(os.Args); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole command as a function: it returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if cause := recover(); cause != nil {
			// Exit code 2, Go's own, must never be mistaken for a result.
			fmt.Fprintf(stderr, "litmus: error: internal: %v\n%s", cause, debug.Stack())
			code = exitInternal
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &checkedWriter{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if (err == nil || errors.As(err, new(decision))) && out.err != nil {
		// A result that nobody could read is none.
		err = fmt.Errorf("standard output: %w", out.err)
	}
	var decided decision
	if errors.As(err, &decided) {
		return int(decided)
	}
	if err != nil {
		printError(stderr, err)
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "litmus",
		Short:         "Sandboxed evaluation of AI agents whose numbers come out the same again",
		Args:          cobra.ArbitraryArgs,
		RunE:          noVerb,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{err, "see 'litmus " + c.Name() + " --help'"}
	})
	root.AddCommand(
		newImport(), newMaterialize(), newRun(), newVerify(), newGate(),
		newList(), newShow(), newDoctor(), newGC(), newVersion(),
	)
	for _, verb := range root.Commands() {
		verb.Long += "\n\n" + exitStatusHelp(verb.Name())
	}
	return root
}

// noVerb is litmus without a verb that it knows.
func noVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := "see 'litmus --help'"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{fmt.Errorf("unknown command %q", args[0]), hint}
}

// usageArgs turns cobra's complaint about the number of arguments into a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			hint := "see 'litmus --help'"
			if c.HasParent() {
				hint = "usage: " + c.UseLine()
			}
			return usageError{err, hint}
		}
		return nil
	}
}
