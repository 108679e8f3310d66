package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// maxConnections is how many connections to one port are served at a time. The
// others wait in the kernel's backlog: a hostile process must not be able to
// use up PID 1's descriptors.
const maxConnections = 256

// acceptPause is how long to leave a port alone that could not accept for want
// of descriptors or memory, which end by themselves and without a sign.
const acceptPause = 10 * time.Millisecond

// listenTCP opens a plain TCP listener; Go's own choice would be MPTCP.
func listenTCP(address string) (*net.TCPListener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil
}

// acceptAll serves connections, each in a goroutine of its own, until the
// listener is closed or its deadline is reached. It returns when all are served.
func acceptAll(listener *net.TCPListener, serve func(*net.TCPConn)) {
	var serving sync.WaitGroup
	defer serving.Wait()
	slots := make(chan struct{}, maxConnections)
	for {
		conn, err := listener.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err != nil:
			time.Sleep(acceptPause)
			continue
		}
		slots <- struct{}{}
		serving.Go(func() {
			defer func() { <-slots }()
			serve(conn)
		})
	}
}
