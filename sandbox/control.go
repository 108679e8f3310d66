package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// controller is the harness's end of the control socket: it waits for
// litmus-init, lets nobody else in, and passes its events on.
type controller struct {
	dir      *os.File // of the sockets; keeps the listener's path valid
	listener *net.UnixListener
	conn     *net.UnixConn
	// events has what init says; it is closed when init has gone. broken is why.
	events chan wire.Event
	broken error
	done   chan struct{} // closed by close
}

// listenControl makes the control socket in dir.
func listenControl(dir string) (*controller, error) {
	handle, listener, err := listenIn(dir, filepath.Base(wire.ControlSocket))
	if err != nil {
		return nil, fmt.Errorf("making control socket: %w", err)
	}
	return &controller{dir: handle, listener: listener, events: make(chan wire.Event), done: make(chan struct{})}, nil
}

// listenIn makes a Unix socket in a directory whose path may be longer than
// that of a socket. The directory must stay open as long as the listener.
func listenIn(dir, name string) (*os.File, *net.UnixListener, error) {
	handle, err := os.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	short := fmt.Sprintf("/proc/self/fd/%d/%s", handle.Fd(), name)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, nil, errors.Join(err, handle.Close())
	}
	return handle, listener, nil
}

// accept waits for process pid, which is litmus-init, to connect, and then
// closes the socket for all others.
func (c *controller) accept(ctx context.Context, pid int) error {
	stop := context.AfterFunc(ctx, func() { c.listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := c.listener.AcceptUnix()
	if err != nil {
		return errors.Join(fmt.Errorf("waiting for litmus-init: %w", err), context.Cause(ctx))
	}
	peer, err := peerOf(conn)
	if err != nil {
		return errors.Join(fmt.Errorf("asking who has connected: %w", err), conn.Close())
	}
	if peer != pid {
		return errors.Join(fmt.Errorf("process %d has connected in place of litmus-init, which is %d", peer, pid), conn.Close())
	}
	if err := c.listener.Close(); err != nil {
		return errors.Join(fmt.Errorf("closing control socket: %w", err), conn.Close())
	}
	c.conn = conn // from here on receive runs, which close waits for
	go c.receive()
	return nil
}

func peerOf(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := errors.Join(controlErr, err); err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

// receive passes init's messages on until it goes or close is called.
func (c *controller) receive() {
	defer close(c.events)
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(nil, wire.MaxMessage)
	for lines.Scan() {
		var event wire.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			c.broken = fmt.Errorf("understanding litmus-init: %w", err)
			return
		}
		select {
		case c.events <- event:
		case <-c.done:
			return
		}
	}
	c.broken = lines.Err()
	if c.broken == nil {
		c.broken = io.EOF
	}
}

// send writes one message to init.
func (c *controller) send(ctx context.Context, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encoding a message to litmus-init: %w", err)
	}
	if line = append(line, '\n'); len(line) > wire.MaxMessage {
		return &SpecError{"agent", fmt.Errorf("command, environment and input take %d bytes together: the most is %d", len(line), wire.MaxMessage)}
	}
	stop := context.AfterFunc(ctx, func() { c.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.conn.Write(line); err != nil {
		return errors.Join(fmt.Errorf("writing to litmus-init: %w", err), context.Cause(ctx))
	}
	return nil
}

// ready sends the setup and waits until init says that all of it stands.
func (c *controller) ready(ctx context.Context, setup wire.Setup) (wire.Ready, error) {
	if err := c.send(ctx, setup); err != nil {
		return wire.Ready{}, err
	}
	select {
	case <-ctx.Done():
		return wire.Ready{}, fmt.Errorf("waiting for litmus-init: %w", context.Cause(ctx))
	case event, ok := <-c.events:
		switch {
		case !ok:
			return wire.Ready{}, fmt.Errorf("litmus-init has gone: %w", c.broken)
		case event.Failed != "":
			return wire.Ready{}, fmt.Errorf("litmus-init: %s", event.Failed)
		case event.Ready == nil:
			return wire.Ready{}, errors.New("litmus-init says something else than that it is ready")
		}
		return *event.Ready, nil
	}
}

// close ends the conversation. What is left of the socket goes with its directory.
func (c *controller) close() error {
	close(c.done)
	var errs []error
	if c.conn != nil {
		errs = append(errs, c.conn.Close())
		for range c.events { // until receive has ended
		}
	} else {
		errs = append(errs, c.listener.Close())
	}
	return errors.Join(append(errs, c.dir.Close())...)
}
