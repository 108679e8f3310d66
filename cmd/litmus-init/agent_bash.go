package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// runBash runs a command and returns its exit code and its output, stdout and
// stderr in the order of writing. It returns when the shell has ended: what the
// shell leaves running goes on, and what that says later is not part of the
// result.
func runBash(command string) string {
	shell, err := exec.LookPath("bash")
	if err != nil {
		shell, err = exec.LookPath("sh")
	}
	if err != nil {
		return "error: there is no shell"
	}
	// Both streams of the child are the same pipe, which is what keeps their order.
	read, write, err := os.Pipe()
	if err != nil {
		return "error: " + err.Error()
	}
	cmd := exec.Command(shell, "-c", command)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return "error: " + err.Error()
	}
	output := collect(read, cmd.Wait)
	return fmt.Sprintf("exit code: %d\n%s", exitCode(cmd.ProcessState), output.text())
}

// collect reads from read until wait returns, takes what has arrived by then,
// and leaves the pipe open: a process that goes on must not be killed by SIGPIPE
// or stopped by a full pipe for having been started from a tool.
func collect(read *os.File, wait func() error) *toolOutput {
	var output toolOutput
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(struct{ io.Writer }{&output}, struct{ io.Reader }{read})
	}()
	_ = wait() // how the shell ended is in its ProcessState
	_ = read.SetReadDeadline(past)
	<-ended
	_ = drain(read, &output)
	_ = read.SetReadDeadline(time.Time{})
	go func() {
		defer read.Close()
		_, _ = io.Copy(io.Discard, read)
	}()
	return &output
}

// exitCode is the code as a shell would give it: 128 and the signal's number for
// a process that a signal ended.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
