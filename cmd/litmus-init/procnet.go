package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

// findSendQueue looks up the send queue of a socket in the text of
// /proc/net/tcp or tcp6 (proc_pid_net(5)). A line is, up to what we need of it,
//
//	0: 0200007F:0050 0100007F:A2C4 01 00000000:00000000 …
//
// with the slot, the local and the remote address, the state, and the lengths of
// the queues for sending and receiving, all in hexadecimal.
func findSendQueue(table []byte, local, remote netip.AddrPort) (int64, bool) {
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 {
			continue
		}
		if l, ok := parseProcAddress(fields[1]); !ok || l != local {
			continue
		}
		if r, ok := parseProcAddress(fields[2]); !ok || r != remote {
			continue
		}
		queue, _, _ := strings.Cut(fields[4], ":")
		n, err := strconv.ParseInt(queue, 16, 64)
		return n, err == nil
	}
	return 0, false
}

// parseProcAddress reads an address as the kernel prints it: words of 32 bits,
// each printed as the number that its bytes are on this machine.
func parseProcAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	address, err := hex.DecodeString(host)
	if err != nil || len(address)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(address); i += 4 {
		binary.NativeEndian.PutUint32(address[i:], binary.BigEndian.Uint32(address[i:]))
	}
	ip, ok := netip.AddrFromSlice(address)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}
