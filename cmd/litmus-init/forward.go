package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
)

// duplex is a stream whose two directions end separately; *net.TCPConn and
// *net.UnixConn are.
type duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// forward lets TCP clients at address talk to the Unix socket at path. Where
// there is no such socket nothing listens, and clients are refused.
func forward(address, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("looking for the gateway: %w", err)
	}
	listener, err := listenTCP(address)
	if err != nil {
		return fmt.Errorf("opening the gateway's port: %w", err)
	}
	go acceptAll(listener, func(client *net.TCPConn) { connect(client, path) })
	return nil
}

// connect joins client to the socket at path until both directions have ended.
func connect(client *net.TCPConn, path string) {
	defer client.Close()
	server, err := net.Dial("unix", path)
	if err != nil {
		reset(client)
		return
	}
	defer server.Close()
	requested := make(chan struct{})
	go func() {
		defer close(requested)
		if err := pour(server.(duplex), client); err != nil {
			// The client is gone; nothing may be left waiting for it.
			server.Close()
		}
	}()
	if err := pour(client, server.(duplex)); err != nil {
		// The answer broke off. A plain end would make half an answer look whole.
		reset(client)
	}
	<-requested
}

// pour copies from src to dst to the end, then ends dst. What dst no longer
// takes is read and dropped: an unread rest would turn the close of src into a
// reset, and the other direction could lose bytes that are under way in it. The
// error is one of reading.
func pour(dst, src duplex) error {
	buf := make([]byte, 64<<10)
	taken := true
	for {
		n, err := src.Read(buf)
		if taken && n > 0 {
			_, refused := dst.Write(buf[:n])
			taken = refused == nil
		}
		if errors.Is(err, io.EOF) {
			// Fails only where dst is gone, which its own reader notices.
			_ = dst.CloseWrite()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reset makes the close of conn visible as an error to the other side.
func reset(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	conn.Close()
}
