package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"litmus/internal/wire"
)

// testBox is a box with litmus-init in it, seen from the harness's side.
type testBox struct {
	t       *testing.T
	conn    net.Conn
	in      *bufio.Reader
	gateway net.Listener
	cmd     *exec.Cmd
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	ended   chan error
}

// outcome is what a box reports of one agent.
type outcome struct {
	ready       wire.Ready
	connections []wire.Connection
	exited      wire.Exited
	failed      string
	stdout      string
	stderr      string
}

// startBox starts a box whose init has connected. env are variables of the stage.
func startBox(t *testing.T, env ...string) *testBox {
	t.Helper()
	if os.Getenv("LITMUS_SKIP_SANDBOX") == "1" {
		t.Skip("LITMUS_SKIP_SANDBOX=1")
	}
	// Unix socket paths are short, so not below t.TempDir.
	sockets, err := os.MkdirTemp("", "li")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	control, err := net.Listen("unix", filepath.Join(sockets, filepath.Base(wire.ControlSocket)))
	check(t, err)
	defer control.Close()
	gateway, err := net.Listen("unix", filepath.Join(sockets, filepath.Base(wire.GatewaySocket)))
	check(t, err)
	b := &testBox{t: t, gateway: gateway, ended: make(chan error, 1)}
	b.cmd = exec.Command("/proc/self/exe")
	b.cmd.Env = append(env, roleVariable+"=stage", rootVariable+"="+t.TempDir(), sockVariable+"="+sockets)
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	b.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatalf("a box takes root (LITMUS_SKIP_SANDBOX=1 leaves these tests out): %v", err)
	}
	go func() { b.ended <- b.cmd.Wait() }()
	t.Cleanup(func() {
		gateway.Close()
		_ = b.cmd.Process.Kill()
		if b.conn != nil {
			b.conn.Close()
			<-b.ended
		}
	})
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		b.conn, err = control.Accept()
	}()
	select {
	case <-accepted:
	case ended := <-b.ended:
		t.Fatalf("the box ended before its init connected: %v\n%s", ended, b.stderr.String())
	}
	check(t, err)
	// A bound for the whole, so that a test hangs for a minute and not for ever.
	check(t, b.conn.SetDeadline(time.Now().Add(time.Minute)))
	b.in = bufio.NewReader(b.conn)
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *testBox) send(message any) {
	b.t.Helper()
	line, err := json.Marshal(message)
	check(b.t, err)
	_, err = b.conn.Write(append(line, '\n'))
	check(b.t, err)
}

func (b *testBox) receive() wire.Event {
	b.t.Helper()
	line, err := readLine(b.in, wire.MaxMessage)
	if err != nil {
		b.t.Fatalf("reading from init: %v\nstdout: %s\nstderr: %s", err, b.stdout.String(), b.stderr.String())
	}
	var event wire.Event
	check(b.t, decodeStrict(line, &event))
	return event
}

// begin sends setup and returns when the surroundings stand.
func (b *testBox) begin(setup wire.Setup) wire.Ready {
	b.t.Helper()
	b.send(setup)
	event := b.receive()
	if event.Ready == nil {
		b.t.Fatalf("init is not ready: %+v", event)
	}
	return *event.Ready
}

// finish starts the agent, waits for its end and ends the box.
func (b *testBox) finish() outcome {
	b.t.Helper()
	b.send(wire.Go{Go: true})
	var o outcome
	for done := false; !done; {
		event := b.receive()
		switch {
		case event.Connection != nil:
			o.connections = append(o.connections, *event.Connection)
		case event.Exited != nil:
			o.exited, done = *event.Exited, true
		default:
			o.failed, done = event.Failed, true
		}
	}
	b.conn.Close()
	<-b.ended
	b.conn = nil
	o.stdout, o.stderr = b.stdout.String(), b.stderr.String()
	return o
}

// runBox runs one agent in a box of its own.
func runBox(t *testing.T, setup wire.Setup) outcome {
	t.Helper()
	b := startBox(t)
	ready := b.begin(setup)
	o := b.finish()
	o.ready = ready
	return o
}

// script is an agent that runs a bash script in /scratch.
func bash(script string) wire.Command {
	return wire.Command{Args: []string{"bash", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, Dir: "/scratch"}
}

// lines splits what an agent printed.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// serveGateway answers each connection to the box's gateway with answer.
func (b *testBox) serveGateway(answer func(net.Conn)) {
	go func() {
		for {
			conn, err := b.gateway.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				b.t.Error(err)
				return
			}
			go func() {
				defer conn.Close()
				answer(conn)
			}()
		}
	}()
}
