package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"litmus/runner"
	"litmus/sandbox/sandboxtest"
)

// litmus is the program itself, as another process.
func litmus(t *testing.T, stateDir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"litmus"}, args...)
	cmd.Env = append(os.Environ(), "LITMUS_STATE_DIR="+stateDir, "LITMUS_INIT="+sandboxtest.InitPath(t))
	return cmd
}

func runJSON(t *testing.T, stateDir string, args ...string) runner.Result {
	t.Helper()
	cmd := litmus(t, stateDir, append(args, "--json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("litmus %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	var result runner.Result
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

const exampleSuite = "../../examples/os-actions"

// Containers of killed runs once lived on for 18 minutes, with no result file.
func TestAKilledRunIsCleanedUpAndGoesOnToTheSameRoot(t *testing.T) {
	sandboxtest.Need(t)
	dir, stateDir := t.TempDir(), t.TempDir()
	whole := runJSON(t, stateDir, "run", exampleSuite, "--limit", "40", "-o", filepath.Join(dir, "whole.litmus"))
	sandboxtest.NoTraces(t, stateDir, "")

	file := filepath.Join(dir, "killed.litmus")
	kill := litmus(t, stateDir, "run", exampleSuite, "--limit", "40", "-o", file)
	stderr, err := kill.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := kill.Start(); err != nil {
		t.Fatal(err)
	}
	// The first progress line comes with the first record: boxes are alive then.
	lines := bufio.NewScanner(stderr)
	progress := regexp.MustCompile(`^\d+/40 `)
	seen := false
	for !seen && lines.Scan() {
		seen = progress.MatchString(lines.Text())
	}
	if err := kill.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = kill.Wait() // killed, as intended
	if !seen {
		t.Fatal("the run ended before it could be killed")
	}
	if len(sandboxtest.Traces(t, stateDir, "")) == 0 {
		t.Error("a killed run left nothing: this test shows nothing")
	}
	if out, err := litmus(t, stateDir, "gc").CombinedOutput(); err != nil {
		t.Fatalf("gc: %v\n%s", err, out)
	}
	sandboxtest.NoTraces(t, stateDir, "")

	other := litmus(t, stateDir, "run", exampleSuite, "--limit", "40", "--model", "sim:naive", "-o", file, "--resume")
	if out, err := other.CombinedOutput(); other.ProcessState.ExitCode() != exitBadInput {
		t.Errorf("a run goes on with another model: %v\n%s", err, out)
	}
	resumed := runJSON(t, stateDir, "run", exampleSuite, "--limit", "40", "-o", file, "--resume")
	if resumed.Root != whole.Root {
		t.Errorf("the resumed run seals to %s, an uninterrupted one to %s", resumed.Root, whole.Root)
	}
	sandboxtest.NoTraces(t, stateDir, "")
}

// A result that went to a full device is not one that was given.
func TestOutputThatIsLostIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"version"}, nil, full, &stderr); code != exitIO {
		t.Errorf("exit code %d, want %d: %s", code, exitIO, stderr.Bytes())
	}
}

func TestAnInterruptedRunSaysHowToGoOnAndLeavesNothing(t *testing.T) {
	sandboxtest.Need(t)
	dir, stateDir := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "run.litmus")
	cmd := litmus(t, stateDir, "run", exampleSuite, "-o", file)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if regexp.MustCompile(`^1/188 `).MatchString(lines.Text()) {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if !strings.Contains(said.String(), "hint: go on with: litmus run") {
		t.Errorf("nothing says how to go on:\n%s", said.String())
	}
	sandboxtest.NoTraces(t, stateDir, "")
}
