package main

// Everything that a person reads on stderr goes through this file. Its rules:
// a line starts with "litmus: error: " or "litmus: warning: ", goes on in lower
// case and has no full stop; the way out follows on a line of its own after
// "hint: ". Bytes that an agent or a file chose are escaped before they reach a
// terminal, so that no run can move the cursor or forge a line.

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// hinter is an error that knows the way out.
type hinter interface{ Hint() string }

func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "litmus: error: %s\n", printable(err.Error()))
	var h hinter
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(w, "hint: %s\n", printable(h.Hint()))
	}
}

func printWarning(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "litmus: warning: %s\n", printable(fmt.Sprintf(format, args...)))
}

// printable makes hostile text safe for a terminal: control characters,
// direction overrides and invalid UTF-8 are shown as escapes; line breaks and tabs stay.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// printableLine is printable for a place where only one line fits.
func printableLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(s))
}

// exitStatusHelp is the last paragraph of a verb's help.
func exitStatusHelp(verb string) string {
	var b strings.Builder
	b.WriteString("Exit status:\n")
	for _, m := range exitMeanings {
		if m.verbs == "" || m.verbs == verb {
			fmt.Fprintf(&b, "  %3d  %s\n", m.code, m.meaning)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// checkedWriter remembers the first error, so that what prints a table need not
// look at each line.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
