package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"litmus/internal/digest"
	"litmus/internal/treehash"
	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/gateway"
	"litmus/sandbox"
)

// Source is what to run: the directory of a suite, or a manifest. The other
// fields override the suite's; a manifest is what it is, and takes none.
type Source struct {
	Path                 string
	Model, ModelSnapshot string
	Seeds                []int64
}

// Semantics are the versions of everything in litmus whose behaviour can change
// a result. They are part of the instrument: two builds that agree on them are
// comparable, whatever else differs.
func Semantics() map[string]string {
	return map[string]string{
		"prng":        mutation.PRNGVersion,
		"tree_hash":   treehash.Version,
		"evidence":    sandbox.EvidenceVersion,
		"transcript":  gateway.TranscriptVersion,
		"judge_input": judge.InputVersion,
		"truncation":  judge.TruncationVersion,
		"rules":       judge.RulesVersion,
	}
}

// Materialized is what came of writing a manifest.
type Materialized struct {
	ID digest.Hash `json:"id"`
	mutation.Counts
	// Checked says that a second materialization gave the same bytes.
	Checked bool `json:"checked"`
}

// Materialize writes the manifest of a suite to the file out, whole or not at
// all; with no out it only computes the id.
func Materialize(ctx context.Context, src Source, out string) (Materialized, error) {
	suite, pins, err := load(ctx, src)
	if err != nil {
		return Materialized{}, err
	}
	if out == "" {
		return materialize(ctx, suite, pins, io.Discard)
	}
	var m Materialized
	err = writeWhole(out, func(w io.Writer) error {
		m, err = materialize(ctx, suite, pins, w)
		return err
	})
	return m, err
}

// CheckPurity materializes again, in another order and with other concurrency,
// and returns an error that names the operator and instance that differ.
func CheckPurity(ctx context.Context, src Source) error {
	suite, pins, err := load(ctx, src)
	if err != nil {
		return err
	}
	err = mutation.CheckPurity(ctx, suite, pins)
	var impure *mutation.ImpurityError
	if errors.As(err, &impure) {
		return badInput("an operator may depend on its rng and its case, and on nothing else", "%v", impure)
	}
	return classify(err)
}

func materialize(ctx context.Context, suite *mutation.Suite, pins mutation.Pins, w io.Writer) (Materialized, error) {
	s, err := mutation.Materialize(ctx, suite, pins, w)
	if err != nil {
		return Materialized{}, classify(fmt.Errorf("materialize: %w", err))
	}
	return Materialized{ID: s.ID, Counts: s.Counts}, nil
}

// load reads the suite and everything outside of it that the manifest pins. What
// only another room can judge, the rubric and the model's name, is checked here,
// before anything runs.
func load(ctx context.Context, src Source) (*mutation.Suite, mutation.Pins, error) {
	info, err := os.Stat(src.Path)
	if err != nil {
		return nil, mutation.Pins{}, badInput("give the directory of a suite", "%v", err)
	}
	if !info.IsDir() {
		return nil, mutation.Pins{}, badInput("give the directory that holds suite.yaml", "%s is not a directory", src.Path)
	}
	suite, err := mutation.Load(src.Path)
	if err != nil {
		return nil, mutation.Pins{}, classify(err)
	}
	if _, err := judge.ParseRubric(suite.RubricFile(), suite.Rubric); err != nil {
		return nil, mutation.Pins{}, classify(err)
	}
	pins := mutation.Pins{Semantics: Semantics(), Model: src.Model, ModelSnapshot: src.ModelSnapshot, Seeds: src.Seeds}
	if pins.Model != "" && pins.ModelSnapshot == "" {
		pins.ModelSnapshot = defaultSnapshot(pins.Model)
	}
	model := suite.Config.Subject.Model
	if pins.Model != "" {
		model = pins.Model
	}
	if err := checkModel(model); err != nil {
		return nil, mutation.Pins{}, err
	}
	image := imageRef(suite.Config.Environment.Image, src.Path)
	if pins.ImageDigest, err = sandbox.ResolveDigest(ctx, image); err != nil {
		return nil, mutation.Pins{}, fmt.Errorf("resolve image %s: %w", image, err)
	}
	return suite, pins, nil
}

// writeWhole writes a file beside its name and renames it when it is on the disk.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}
