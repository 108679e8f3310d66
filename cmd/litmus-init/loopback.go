package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// raiseLoopback brings lo up. Runtimes do so in a network namespace that they
// make; then nothing is left to do, which is as well, since it takes CAP_NET_ADMIN.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("asking for the loopback interface: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("asking for the loopback interface: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return fmt.Errorf("asking for the loopback interface: %w", err)
	}
	if lo.Uint16()&unix.IFF_UP != 0 {
		return nil
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bringing up the loopback interface: %w", err)
	}
	return nil
}
