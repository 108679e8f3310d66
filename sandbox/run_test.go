package sandbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"litmus/internal/digest"
	"litmus/internal/treehash"
	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

// boxes is an engine with the builtin image.
type boxes struct {
	*sandbox.Engine
	config sandbox.Config
	image  *sandbox.Image
}

func openBoxes(t testing.TB, daemon sandboxtest.Daemon) boxes {
	t.Helper()
	config := sandboxtest.Config(t, daemon)
	config.InitPath = sandboxtest.InitPath(t)
	engine := sandboxtest.Open(t, config)
	image, err := engine.Image(t.Context(), "builtin")
	if err != nil {
		t.Fatal(err)
	}
	return boxes{engine, config, image}
}

// spec is a box in which bash runs a script.
func (b boxes) spec(script string, tree ...sandbox.File) sandbox.Spec {
	return sandbox.Spec{
		RunID: "run", Token: "token", Image: b.image, Workdir: "/scratch", Tree: tree,
		Agent: sandbox.Command{Args: []string{"/bin/bash", "-c", script}},
		Limits: sandbox.Limits{
			Memory: 256 << 20, Writable: 64 << 20, Output: 1 << 20,
			Pids: 128, Inodes: 10000, OpenFiles: 1024, Deadline: time.Minute,
		},
	}
}

func (b boxes) run(t testing.TB, spec sandbox.Spec) sandbox.Outcome {
	t.Helper()
	outcome, err := b.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func (b boxes) traces(t testing.TB) []string {
	t.Helper()
	return sandboxtest.Traces(t, b.config.StateDir, b.config.Address)
}

func file(path, content string) sandbox.File {
	return sandbox.File{Path: path, Type: treehash.File, Mode: 0o644, Content: []byte(content)}
}

func changed(o sandbox.Outcome) []string {
	var list []string
	for _, c := range o.Evidence.Changes {
		list = append(list, fmt.Sprintf("%s %s", c.Kind, c.Path))
	}
	return list
}

// onEveryDaemon runs a test with boxes of each kind of daemon.
func onEveryDaemon(t *testing.T, test func(*testing.T, boxes)) {
	for _, daemon := range sandboxtest.Daemons {
		t.Run("on "+string(daemon), func(t *testing.T) { test(t, openBoxes(t, daemon)) })
	}
}

func TestABoxPassesEveryStepAndLeavesNothing(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		b.run(t, b.spec("true")) // what the engine keeps for all boxes is there from the first on
		before := b.traces(t)
		spec := b.spec("echo out; echo err >&2; pwd; cat note; exit 3", file("/scratch/note", "hi\n"))
		outcome := b.run(t, spec)
		if after := b.traces(t); !slices.Equal(before, after) {
			t.Errorf("before %q\nafter %q", before, after)
		}
		var steps []string
		for _, s := range outcome.Steps {
			steps = append(steps, s.Name)
		}
		if want := []string{
			"create", "assert-empty", "stage", "assert-staged", "start", "run", "freeze", "kill", "hash", "evidence", "destroy",
		}; !slices.Equal(steps, want) {
			t.Errorf("steps %q", steps)
		}
		if !outcome.EmptyAtStart {
			t.Error("not asserted to be empty at the start")
		}
		if outcome.Exit != (sandbox.Exit{Cause: sandbox.Exited, Code: 3}) {
			t.Errorf("exit %+v", outcome.Exit)
		}
		expectStream(t, "stdout", outcome.Stdout, "out\n/scratch\nhi\n")
		expectStream(t, "stderr", outcome.Stderr, "err\n")
		if got := changed(outcome); len(got) != 0 || outcome.Evidence.Root != treehash.NewLister().Sum() {
			t.Errorf("changes %q", got)
		}
		if hash, err := sandbox.StagedHash(spec.Tree); err != nil || hash != outcome.Staged {
			t.Errorf("staged %s, %v", outcome.Staged, err)
		}
		t.Logf("%+v", outcome.Facts.Timings)
	})
}

func expectStream(t *testing.T, name string, got sandbox.Stream, want string) {
	t.Helper()
	if string(got.Head) != want || got.Total != int64(len(want)) || got.Hash != digest.Sum([]byte(want)) || got.Truncated {
		t.Errorf("%s is %q: %+v", name, got.Head, got)
	}
}
