package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"litmus/internal/digest"
	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// Finding is one thing in a file that does not add up.
type Finding struct {
	Where string `json:"where"`
	Msg   string `json:"msg"`
}

// Verification is what came of recomputing a file.
type Verification struct {
	Path string `json:"path"`
	// Kind is "run" or "manifest"; ID the run's root or the manifest's id.
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	OK        bool      `json:"ok"`
	Instances int64     `json:"instances"`
	Rejudged  int64     `json:"rejudged"`
	Findings  []Finding `json:"findings"`
}

// Verify recomputes everything that the run file or manifest at path says about
// itself. What it finds is in the result; an error means that there was nothing
// to look at.
func Verify(ctx context.Context, path string) (Verification, error) {
	isRun, err := isRunFile(path)
	if err != nil {
		return Verification{}, err
	}
	if !isRun {
		return verifyManifest(path)
	}
	v := Verification{Path: path, Kind: "run", Findings: []Finding{}}
	report, err := runfile.Verify(ctx, path, runfile.Hooks{
		Manifest: func(r io.Reader) error { _, err := readToEnd(r); return err },
		Rejudge:  rejudger(ctx, path),
	})
	if errors.Is(err, runfile.ErrDamaged) {
		v.Findings = append(v.Findings, Finding{"file", err.Error()})
		return v, nil
	}
	if err != nil {
		return v, classify(fmt.Errorf("%s: %w", path, err))
	}
	for _, f := range report.Findings {
		v.Findings = append(v.Findings, Finding{f.Where, f.Msg})
	}
	v.ID, v.OK = report.Seal.Root.String(), len(report.Findings) == 0
	v.Instances, v.Rejudged = report.Instances, report.Rejudged
	return v, nil
}

// isRunFile looks at the first bytes: SQLite's magic, or anything else. A file
// that begins with neither that nor a brace is taken for a damaged run file.
func isRunFile(path string) (bool, error) {
	if err := mustBeFile(path); err != nil {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var first [1]byte
	if _, err := io.ReadFull(f, first[:]); errors.Is(err, io.EOF) {
		return false, badInput("a run file or a manifest is needed", "%s is empty", path)
	} else if err != nil {
		return false, err
	}
	return first[0] != '{', nil
}

// mustBeFile refuses what is no file: opening a FIFO would wait for its writer.
func mustBeFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return badInput("give the path of a file", "%s is not a regular file", path)
	}
	return nil
}

func verifyManifest(path string) (Verification, error) {
	f, err := os.Open(path)
	if err != nil {
		return Verification{}, err
	}
	defer f.Close()
	v := Verification{Path: path, Kind: "manifest", Findings: []Finding{}}
	id := digest.NewWriter()
	if v.Instances, err = readToEnd(io.TeeReader(f, id)); err != nil {
		v.Findings = append(v.Findings, Finding{"manifest", err.Error()})
		return v, nil
	}
	v.ID, v.OK = id.Sum().String(), true
	return v, nil
}

// readToEnd reads a manifest as strictly as a run would and counts its instances.
func readToEnd(r io.Reader) (instances int64, err error) {
	m, err := mutation.NewReader(r)
	if err != nil {
		return 0, err
	}
	for ; ; instances++ {
		if _, err := m.Next(); errors.Is(err, io.EOF) {
			return instances, nil
		} else if err != nil {
			return instances, err
		}
	}
}

// rejudger judges recorded inputs again with the rubric of the file's own
// manifest. The rubric is read at the first call: a damaged file may have none.
func rejudger(ctx context.Context, path string) func(string, []byte) (runfile.Verdict, error) {
	var rubric *judge.Rubric
	return func(_ string, input []byte) (runfile.Verdict, error) {
		if rubric == nil {
			r, err := rubricOf(ctx, path)
			if err != nil {
				return runfile.Verdict{}, err
			}
			rubric = r
		}
		recorded, err := judge.Recover(digest.Sum(input), input)
		if err != nil {
			return runfile.Verdict{}, err
		}
		verdict, err := rubric.Judge(recorded)
		if err != nil {
			return runfile.Verdict{}, err
		}
		return recordVerdict(verdict), nil
	}
}

func rubricOf(ctx context.Context, path string) (*judge.Rubric, error) {
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mutation.NewReader(f.Manifest(ctx))
	if err != nil {
		return nil, err
	}
	return judge.ParseRubric("rubric of "+path, []byte(m.Header.Rubric))
}
