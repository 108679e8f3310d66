package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"litmus/internal/wire"
)

// maxGatewayConns is how many connections of a box to the model gateway there
// are at once; more wait. It bounds the files that a box makes litmus open.
const maxGatewayConns = 64

// gatewayDoor is the gateway's socket as a box sees it. It passes connections
// on to the socket on the host, which would otherwise have to be mounted into
// the box and show its path there.
type gatewayDoor struct {
	target   string
	dir      *os.File
	listener *net.UnixListener
	room     chan struct{}

	lock   sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	users  sync.WaitGroup
}

func openGatewayDoor(dir, target string) (*gatewayDoor, error) {
	handle, listener, err := listenIn(dir, filepath.Base(wire.GatewaySocket))
	if err != nil {
		return nil, fmt.Errorf("making gateway socket: %w", err)
	}
	g := &gatewayDoor{
		target: target, dir: handle, listener: listener,
		room: make(chan struct{}, maxGatewayConns), conns: map[net.Conn]struct{}{},
	}
	g.users.Go(g.serve)
	return g, nil
}

func (g *gatewayDoor) serve() {
	for {
		g.room <- struct{}{}
		inside, err := g.listener.AcceptUnix()
		if err != nil { // closed
			return
		}
		if !g.hold(inside) {
			return
		}
		g.users.Go(func() {
			g.pass(inside)
			<-g.room
		})
	}
}

// pass connects one connection of the box through. To the agent a gateway that
// is not there looks like a server that hangs up.
func (g *gatewayDoor) pass(inside *net.UnixConn) {
	defer g.drop(inside)
	conn, err := net.Dial("unix", g.target)
	if err != nil {
		return
	}
	outside, ok := conn.(*net.UnixConn)
	if !ok || !g.hold(conn) {
		return
	}
	defer g.drop(outside)
	var answer sync.WaitGroup
	answer.Go(func() { copyHalf(inside, outside) })
	copyHalf(outside, inside)
	answer.Wait()
}

// copyHalf copies one direction, and passes its end on. What can't be written
// any more is still read: closing a socket with something unread in it would
// break off the other direction as well.
func copyHalf(to, from *net.UnixConn) {
	if _, err := io.Copy(to, from); err != nil {
		io.Copy(io.Discard, from)
	}
	to.CloseWrite()
}

// hold keeps a connection for close to end, or ends it if that has been.
func (g *gatewayDoor) hold(conn net.Conn) bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.closed {
		conn.Close()
		return false
	}
	g.conns[conn] = struct{}{}
	return true
}

func (g *gatewayDoor) drop(conn net.Conn) {
	conn.Close()
	g.lock.Lock()
	defer g.lock.Unlock()
	delete(g.conns, conn)
}

// close ends every connection and returns when nothing of the door is left.
func (g *gatewayDoor) close() error {
	g.lock.Lock()
	g.closed = true
	for conn := range g.conns {
		conn.Close()
	}
	g.lock.Unlock()
	err := g.listener.Close()
	select {
	case <-g.room: // serve may be waiting for room
	default:
	}
	g.users.Wait()
	return errors.Join(err, g.dir.Close())
}
