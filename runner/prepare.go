package runner

import (
	"context"
	"fmt"

	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// run is one call of Run: what all its attempts share.
type run struct {
	opts     Options
	file     *runfile.Writer
	header   mutation.Header
	rubric   *judge.Rubric
	selected *selection
	boxes    *boxes
	tally    *tally
}

// prepare reads all of the manifest's header that the run needs, and refuses
// what can't be run before the first box.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.header, err = headerOf(ctx, r.file.File); err != nil {
		return err
	}
	if err := r.sameSemantics(); err != nil {
		return err
	}
	if err := checkModel(r.header.Subject.Model); err != nil {
		return err
	}
	if r.rubric, err = judge.ParseRubric("rubric in the manifest", []byte(r.header.Rubric)); err != nil {
		return err
	}
	if r.selected, err = resolveSelection(ctx, r.file.File, r.opts.Select); err != nil {
		return err
	}
	if r.opts.OnSelect != nil {
		r.opts.OnSelect(r.selected.size(), int(r.file.Instances))
	}
	counts, err := r.file.Counts(ctx)
	if err != nil {
		return err
	}
	r.tally = newTally(counts, r.selected.size(), r.opts.OnProgress)
	r.boxes, err = openBoxes(ctx, r.opts.Boxes, r.header.Instrument.Environment, sourceDir(r.opts.Source.Path))
	return err
}

// sameSemantics refuses a manifest that was made by a litmus which measures
// differently: its results would stand under the wrong instrument.
func (r *run) sameSemantics() error {
	ours, theirs := Semantics(), r.header.Instrument.Semantics
	for name, version := range ours {
		if theirs[name] != version {
			return badInput("materialize the suite anew with this version of litmus",
				"the manifest was made for %s %q, this litmus has %q", name, theirs[name], version)
		}
	}
	if len(theirs) != len(ours) {
		return badInput("materialize the suite anew with this version of litmus", "the manifest names %d semantics, this litmus has %d", len(theirs), len(ours))
	}
	return nil
}

// warnings are doubts that do not stop a run.
func (r *run) warnings(c Counts) []string {
	var warnings []string
	if n := c.Dispositions[string(runfile.Error)]; n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d instances are ERROR: see litmus list --disposition ERROR", n, c.Total))
	}
	if !r.header.Instrument.Reproducible {
		warnings = append(warnings, "the suite is reproducible: false: nothing is scored, and the gate refuses the run")
	}
	return warnings
}
