package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// maxCapture bounds Setup.CaptureLimit, so that a Connection fits in a message.
const maxCapture = 8 << 20

// backlog is how many connections that nobody has accepted are looked at in the
// end. It is the most that Go lets a listener hold.
const backlog = 4096

// past is a deadline that has been reached.
var past = time.Unix(1, 0)

// recorder takes connections on loopback ports and keeps what they send. It
// stands for the hosts that a case names, and answers nothing but HTTP requests.
type recorder struct {
	limit  int64
	report func(wire.Connection) error
	ports  []port

	accepting sync.WaitGroup

	mu     sync.Mutex
	open   map[*net.TCPConn]struct{}
	ending bool
	failed error
}

type port struct {
	wire.Listener
	tcp *net.TCPListener
}

// listen opens the listeners. Each connection is reported when it has ended, the
// last ones by finish.
func listen(listeners []wire.Listener, limit int64, report func(wire.Connection) error) (*recorder, error) {
	if limit < 0 || limit > maxCapture {
		return nil, fmt.Errorf("capture limit %d: it is between 0 and %d bytes", limit, maxCapture)
	}
	r := &recorder{limit: limit, report: report, open: map[*net.TCPConn]struct{}{}}
	for _, l := range listeners {
		if address := net.ParseIP(l.Address); address == nil || !address.IsLoopback() {
			return nil, fmt.Errorf("listening for %s: %q is not a loopback address", l.Host, l.Address)
		}
		tcp, err := listenTCP(net.JoinHostPort(l.Address, strconv.Itoa(l.Port)))
		if err != nil {
			return nil, fmt.Errorf("listening for %s: %w", l.Host, err)
		}
		p := port{l, tcp}
		r.ports = append(r.ports, p)
		r.accepting.Go(func() {
			acceptAll(tcp, func(conn *net.TCPConn) { r.serve(p, conn) })
		})
	}
	return r, nil
}

// serve records one connection to its end, or to the end of the agent.
func (r *recorder) serve(p port, conn *net.TCPConn) {
	defer conn.Close()
	r.enter(conn)
	defer r.leave(conn)
	c := newCapture(conn, r.limit)
	answerHTTP(c, conn)
	if err := c.readToEnd(); errors.Is(err, os.ErrDeadlineExceeded) {
		r.note(takeSent(conn, c))
	}
	// A report that cannot be sent is a broken connection to the harness, which
	// ends everything.
	_ = r.report(c.connection(p.Listener))
}

func (r *recorder) enter(conn *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[conn] = struct{}{}
	if r.ending {
		_ = conn.SetReadDeadline(past)
	}
}

func (r *recorder) leave(conn *net.TCPConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, conn)
}

// note keeps the first error of the recorder's own.
func (r *recorder) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
}

// finish is called when the agent has ended. It reports every connection that
// was made, with every byte that was sent by then.
func (r *recorder) finish() error {
	r.mu.Lock()
	r.ending = true
	for conn := range r.open {
		_ = conn.SetReadDeadline(past)
	}
	r.mu.Unlock()
	for _, p := range r.ports {
		_ = p.tcp.SetDeadline(past)
	}
	r.accepting.Wait()
	for _, p := range r.ports {
		if err := r.takeBacklog(p); err != nil {
			return fmt.Errorf("taking the last connections to %s: %w", p.Host, err)
		}
		p.tcp.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// takeBacklog records the connections that the kernel has accepted and this
// program has not.
func (r *recorder) takeBacklog(p port) error {
	raw, err := p.tcp.SyscallConn()
	if err != nil {
		return err
	}
	for range backlog {
		var fd int
		var refused error
		if err := raw.Control(func(listening uintptr) {
			fd, _, refused = unix.Accept4(int(listening), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		}); err != nil {
			return err
		}
		switch refused {
		case nil:
			if err := r.takeWhatIsThere(p, fd); err != nil {
				return err
			}
		case unix.EAGAIN:
			return nil
		case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
			return refused
		default: // the connection's own error, which accept(2) passes on
		}
	}
	return nil
}

// takeWhatIsThere reports the connection fd with what it has received, and closes it.
func (r *recorder) takeWhatIsThere(p port, fd int) error {
	defer unix.Close(fd)
	c := newCapture(nil, r.limit)
	if err := takeSentFD(fd, c); err != nil {
		return err
	}
	return r.report(c.connection(p.Listener))
}
