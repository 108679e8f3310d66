package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"litmus/runner"
)

// progress shows how far a run is, on stderr: one line that is rewritten on a
// terminal, a plain line now and then where stderr goes to a file.
type progress struct {
	w        io.Writer
	terminal bool
	started  time.Time
	printed  time.Time
	now      func() time.Time
}

// plainEvery is how often a line is printed where it can't be rewritten.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	p := &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
	p.started = p.now()
	return p
}

// update is called after each instance, never concurrently.
func (p *progress) update(s runner.Progress) {
	now := p.now()
	last := s.Done == s.Total
	every := plainEvery
	if p.terminal {
		every = 100 * time.Millisecond
	}
	if !last && now.Sub(p.printed) < every {
		return
	}
	p.printed = now
	line := progressLine(s, now.Sub(p.started))
	switch {
	case p.terminal && last:
		fmt.Fprintf(p.w, "\r\x1b[K%s\n", line)
	case p.terminal:
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	default:
		fmt.Fprintln(p.w, line)
	}
}

// progressLine is one line: done/total, instances per second, the estimate of
// what is left, and the dispositions so far.
func progressLine(s runner.Progress, elapsed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d", s.Done, s.Total)
	if ran := s.Done - s.Before; ran > 0 && elapsed > 0 {
		rate := float64(ran) / elapsed.Seconds()
		fmt.Fprintf(&b, "  %.1f/s", rate)
		if left := s.Total - s.Done; left > 0 {
			eta := time.Duration(float64(left) / rate * float64(time.Second))
			fmt.Fprintf(&b, "  about %s left", eta.Round(time.Second))
		}
	}
	for _, name := range sortedKeys(s.Dispositions) {
		fmt.Fprintf(&b, "  %s %d", name, s.Dispositions[name])
	}
	return b.String()
}
