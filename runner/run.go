package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// Boxes says where and how boxes are made.
type Boxes struct {
	// StateDir is shared by all litmus processes of the machine.
	StateDir string
	// Containerd is the address of an existing daemon; empty starts a private one.
	Containerd string
	// Runtime is an OCI runtime's name or path; empty is the first one installed.
	Runtime string
	// Exe and Init are the paths of the litmus and litmus-init binaries.
	Exe, Init string
}

func (b Boxes) config() sandbox.Config {
	return sandbox.Config{StateDir: b.StateDir, Address: b.Containerd, Exe: b.Exe, Runtime: b.Runtime, InitPath: b.Init}
}

// Options is everything that Run needs.
type Options struct {
	Source Source
	// Out is the run file.
	Out   string
	Boxes Boxes
	// Select narrows the run; what is left out is NOT_RUN in the sealed file.
	Select Selection
	// MaxSandboxes is how many boxes there are at once; 0 is two for each processor.
	MaxSandboxes int
	// Shuffle draws the order in which instances run; nil is the manifest's. It
	// changes no result.
	Shuffle *uint64
	// Resume goes on with an unsealed run file at Out.
	Resume   bool
	Upstream Upstream
	// OnSelect is told how many of how many instances are selected, before the
	// first box; OnProgress is called after each instance, one call at a time.
	OnSelect   func(selected, total int)
	OnProgress func(Progress)
}

// Result is a finished run.
type Result struct {
	Path      string   `json:"path"`
	Manifest  string   `json:"manifest"`
	Root      string   `json:"root"`
	Model     string   `json:"model"`
	Simulated bool     `json:"simulated"`
	Counts    Counts   `json:"counts"`
	Warnings  []string `json:"warnings"`
}

// Run runs every selected instance of the source in a box of its own and seals
// the run file. When ctx ends, boxes are taken down, nothing is sealed, and the
// file can be resumed.
func Run(ctx context.Context, opts Options) (_ Result, err error) {
	w, err := openOut(ctx, opts)
	if err != nil {
		return Result{}, classify(err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r := &run{opts: opts, file: w}
	defer func() { err = errors.Join(err, r.boxes.close()) }()
	if err := r.prepare(ctx); err != nil {
		return Result{}, errors.Join(classify(err), r.discard())
	}
	if err := r.runAll(ctx); err != nil {
		return Result{}, interrupted(ctx, opts.Out, err)
	}
	seal, err := w.Seal(ctx, runfile.SealOptions{Selection: r.selected.has})
	if err != nil {
		return Result{}, classify(err)
	}
	result := Result{
		Path: opts.Out, Manifest: w.ManifestID.String(), Root: seal.Root.String(),
		Model: r.header.Subject.Model, Simulated: isSimulated(r.header.Subject.Model), Warnings: []string{},
	}
	if result.Counts, err = countFile(ctx, opts.Out); err != nil {
		return Result{}, classify(err)
	}
	result.Warnings = append(result.Warnings, r.warnings(result.Counts)...)
	return result, nil
}

// discard removes a new file in which nothing has run: what refused the run would
// refuse to resume it.
func (r *run) discard() error {
	if r.opts.Resume {
		return nil
	}
	if err := r.file.Close(); err != nil {
		return err
	}
	return os.Remove(r.opts.Out)
}

func openOut(ctx context.Context, opts Options) (*runfile.Writer, error) {
	if opts.Resume {
		return resumeOut(ctx, opts)
	}
	if _, err := os.Lstat(opts.Out); err == nil {
		return nil, badInput("choose another name, or go on with it by --resume", "%s exists", opts.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if dir := filepath.Dir(opts.Out); !isDir(dir) {
		return nil, badInput("make the directory first", "%s can't be written: there is no directory %s", opts.Out, dir)
	}
	manifest, err := openManifest(ctx, opts.Source, filepath.Dir(opts.Out))
	if err != nil {
		return nil, err
	}
	defer manifest.Close()
	facts, err := hostFacts()
	if err != nil {
		return nil, err
	}
	return runfile.Create(ctx, opts.Out, manifest, runfile.Meta{Facts: facts})
}

// resumeOut goes on with a run file, and only with the run that it is of: another
// model or another suite is another run.
func resumeOut(ctx context.Context, opts Options) (*runfile.Writer, error) {
	manifest, err := openManifest(ctx, opts.Source, filepath.Dir(opts.Out))
	if err != nil {
		return nil, err
	}
	defer manifest.Close()
	id := digest.NewWriter()
	if _, err := io.Copy(id, manifest); err != nil {
		return nil, err
	}
	w, err := runfile.Resume(ctx, opts.Out)
	if errors.Is(err, runfile.ErrSealed) {
		return nil, badInput("nothing is left to do", "%s is sealed already", opts.Out)
	}
	if err != nil {
		return nil, err
	}
	if w.ManifestID != id.Sum() {
		return nil, errors.Join(
			badInput("give the suite, model and seeds that the run was started with, or choose another -o",
				"%s is a run of manifest %s, and %s makes %s", opts.Out, w.ManifestID, opts.Source.Path, id.Sum()),
			w.Close())
	}
	return w, nil
}

// openManifest opens a manifest as it is, or materializes a suite into a file
// without a name in dir.
func openManifest(ctx context.Context, src Source, dir string) (io.ReadCloser, error) {
	info, err := os.Stat(src.Path)
	if err != nil {
		return nil, badInput("give the directory of a suite, or a manifest", "%v", err)
	}
	if !info.IsDir() {
		if src.Model != "" || len(src.Seeds) > 0 {
			return nil, badInput("give the suite, or materialize it anew with the change", "%s is a manifest: its model and its seeds are fixed", src.Path)
		}
		if err := mustBeFile(src.Path); err != nil {
			return nil, err
		}
		return os.Open(src.Path)
	}
	suite, pins, err := load(ctx, src)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".litmus-manifest-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := materialize(ctx, suite, pins, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// hostFacts are kept beside the records, under a hash of their own: they differ
// from machine to machine and change no result.
func hostFacts() ([]byte, error) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, err
	}
	return canon.Marshal(map[string]any{
		"go": runtime.Version(), "arch": runtime.GOARCH, "kernel": strings.TrimSpace(string(release)),
	})
}

// interrupted says how to go on after a run was stopped from outside.
func interrupted(ctx context.Context, out string, err error) error {
	if ctx.Err() == nil {
		return classify(err)
	}
	return &stoppedError{cause: ctx.Err(), out: out}
}

type stoppedError struct {
	cause error
	out   string
}

func (e *stoppedError) Error() string { return fmt.Sprintf("stopped: %s is not sealed", e.out) }
func (e *stoppedError) Unwrap() error { return e.cause }
func (e *stoppedError) Hint() string  { return "go on with: litmus run … --resume -o " + e.out }
