package main

import (
	"errors"
	"io"

	"litmus/internal/digest"
	"litmus/internal/wire"
)

// capture counts and hashes the bytes of one connection and keeps the first of
// them. Read passes them on, Write takes them from elsewhere.
type capture struct {
	src   io.Reader
	limit int64
	head  []byte
	all   *digest.Writer
}

// newCapture returns a capture of src that keeps at most limit bytes.
func newCapture(src io.Reader, limit int64) *capture {
	return &capture{src: src, limit: limit, all: digest.NewWriter()}
}

func (c *capture) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	_, _ = c.Write(p[:n])
	return n, err
}

// Write takes all of p and never fails.
func (c *capture) Write(p []byte) (int, error) {
	room := c.limit - int64(len(c.head))
	c.head = append(c.head, p[:min(int64(len(p)), room)]...)
	return c.all.Write(p)
}

// readToEnd reads until the other side has ended, or until an error, which it
// returns.
func (c *capture) readToEnd() error {
	buf := make([]byte, 32<<10)
	for {
		if _, err := c.Read(buf); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// connection is what has been captured, as a connection to l.
func (c *capture) connection(l wire.Listener) wire.Connection {
	return wire.Connection{
		Host: l.Host, Port: l.Port,
		Bytes: c.all.Len(), Head: c.head, Hash: c.all.Sum().String(),
	}
}
