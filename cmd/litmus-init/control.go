package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"litmus/internal/wire"
)

// errHarnessGone is the end of a box: the control connection broke.
var errHarnessGone = errors.New("the harness closed the control connection")

// control is the connection to the harness. Messages go out whole, from any
// goroutine; they come in through receive, and after the last one through watch.
type control struct {
	conn net.Conn
	in   *bufio.Reader

	out sync.Mutex

	watching sync.Once
	broken   chan struct{}
}

// dialControl connects to the harness, which waits at the Unix socket path.
func dialControl(path string) (*control, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("connecting to the harness: %w", err)
	}
	return newControl(conn), nil
}

func newControl(conn net.Conn) *control {
	return &control{conn: conn, in: bufio.NewReader(conn), broken: make(chan struct{})}
}

// receive reads the next message of the harness into message.
func (c *control) receive(message any) error {
	line, err := readLine(c.in, wire.MaxMessage)
	if err != nil {
		return fmt.Errorf("reading from the harness: %w", err)
	}
	if err := decodeStrict(line, message); err != nil {
		return fmt.Errorf("understanding the harness: %w", err)
	}
	return nil
}

// send writes one message to the harness.
func (c *control) send(event wire.Event) error {
	line, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("encoding a message to the harness: %w", err)
	}
	line = append(line, '\n')
	if len(line) > wire.MaxMessage {
		return fmt.Errorf("a message to the harness of %d bytes: the most is %d", len(line), wire.MaxMessage)
	}
	c.out.Lock()
	defer c.out.Unlock()
	if _, err := c.conn.Write(line); err != nil {
		return fmt.Errorf("writing to the harness: %w", err)
	}
	return nil
}

// report tells the harness of one connection.
func (c *control) report(connection wire.Connection) error {
	return c.send(wire.Event{Connection: &connection})
}

// fail tells the harness why its Setup cannot be done, and waits for it to go.
func (c *control) fail(cause error) error {
	if err := c.send(wire.Event{Failed: cause.Error()}); err != nil {
		return errors.Join(cause, err)
	}
	<-c.watch()
	return cause
}

// watch returns a channel that is closed when the connection breaks. The
// harness has nothing more to say by then, so a word of it counts as a break.
func (c *control) watch() <-chan struct{} {
	c.watching.Do(func() {
		go func() {
			defer close(c.broken)
			_, _ = c.in.ReadByte()
		}()
	})
	return c.broken
}

// readLine reads one line, without its end, of at most limit bytes with it.
// A line that lacks its end is an error.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, fmt.Errorf("a line is longer than %d bytes", limit)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// decodeStrict reads one JSON value without unknown fields and with nothing
// after it.
func decodeStrict(text []byte, value any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(value); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
