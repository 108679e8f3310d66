package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// What a process has written to a connection waits in the kernel, first on the
// sender's side and then on the receiver's. At the end of the agent the
// recorders take both: how far the bytes had come is chance, that they were sent
// is not, and a sender may well be gone by then.

// Waiting for bytes that the kernel has: how long at a time, in milliseconds,
// and how often at most. On the loopback interface they come at once.
const (
	arrivalWait  = 20
	arrivalTries = 100
)

// takeSent copies into sink what has been sent to conn, and waits for nothing
// that has not been sent when it is called. No other read may be going on.
func takeSent(conn *net.TCPConn, sink io.Writer) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = takeSentFD(int(fd), sink) }); err != nil {
		return err
	}
	return failed
}

// takeSentFD is takeSent for a bare TCP socket that does not block.
func takeSentFD(fd int, sink io.Writer) error {
	local, remote, err := endpoints(fd)
	if err != nil {
		return err
	}
	// Received bytes count as the sender's until they are acknowledged; do so now.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	var most int64
	for try := range arrivalTries {
		// First what is with the sender, then what is here: a byte that moves in
		// between is seen twice and not never.
		unsent, err := sendQueue(remote, local)
		if err != nil {
			return err
		}
		if try == 0 {
			received, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
			if err != nil {
				return err
			}
			// A sender that goes on for ever must not keep us.
			most = unsent + int64(received)
		}
		n, ended, err := readAvailable(fd, sink, most)
		most -= n
		if err != nil || ended || unsent == 0 || most <= 0 {
			return err
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, arrivalWait); err != nil && err != unix.EINTR {
			return err
		}
	}
	return nil
}

// readAvailable copies at most limit bytes that have arrived at fd and returns
// how many it took, and whether the stream has ended, in whatever way.
func readAvailable(fd int, sink io.Writer, limit int64) (int64, bool, error) {
	buf := make([]byte, 64<<10)
	var taken int64
	for taken < limit {
		n, err := unix.Read(fd, buf[:min(int64(len(buf)), limit-taken)])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return taken, false, nil
		case err != nil, n == 0:
			return taken, true, nil
		}
		if _, err := sink.Write(buf[:n]); err != nil {
			return taken, false, err
		}
		taken += int64(n)
	}
	return taken, false, nil
}

// endpoints returns the two addresses of a TCP socket; no remote one where the
// other side has reset the connection.
func endpoints(fd int) (local, remote netip.AddrPort, err error) {
	here, err := unix.Getsockname(fd)
	if err != nil {
		return local, remote, fmt.Errorf("naming a connection: %w", err)
	}
	there, err := unix.Getpeername(fd)
	if err != nil && err != unix.ENOTCONN {
		return local, remote, fmt.Errorf("naming a connection: %w", err)
	}
	return addrPort(here), addrPort(there), nil
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// sendQueue returns how many bytes the socket local, connected to remote, has
// sent or still has to send without an acknowledgement; 0 where there is no such
// socket any more.
func sendQueue(local, remote netip.AddrPort) (int64, error) {
	for _, path := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		table, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return 0, fmt.Errorf("reading the sockets of the box: %w", err)
		}
		if bytes, ok := findSendQueue(table, local, remote); ok {
			return bytes, nil
		}
	}
	return 0, nil
}
