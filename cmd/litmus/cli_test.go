package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	// The test binary is litmus, and so its own daemon and shim.
	if code, ok := sandbox.Reexec(os.Args); ok {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"litmus": main})
}

// The scripts are the specification of the command line, one behaviour each.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts(t, "testdata/script", nil))
}

// The scripts in testdata/box make boxes.
func TestBoxScripts(t *testing.T) {
	sandboxtest.Need(t)
	testscript.Run(t, scripts(t, "testdata/box", map[string]string{"LITMUS_INIT": sandboxtest.InitPath(t)}))
}

func scripts(t *testing.T, dir string, env map[string]string) testscript.Params {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	return testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("LITMUS_STATE_DIR", e.WorkDir+"/state")
			for name, value := range env {
				e.Setenv(name, value)
			}
			return nil
		},
	}
}

// exits CODE COMMAND… runs a command that must end with exactly that code;
// testscript's own ! takes any failure for the right one.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
