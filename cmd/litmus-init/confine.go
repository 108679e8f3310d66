package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// droppedCaps are the capabilities that PID 1 has for its own work alone: to
// choose process ids, and to take capabilities out of the bounding set.
var droppedCaps = []uintptr{unix.CAP_CHECKPOINT_RESTORE, unix.CAP_SETPCAP}

// confinement is what every process that PID 1 starts loses on its way to
// exec: the capabilities of PID 1's own, and clone3, whose arguments a seccomp
// filter cannot see and which the box's profile allows for PID 1 only.
type confinement struct {
	header unix.CapUserHeader
	caps   [2]unix.CapUserData
	// bounding are those of droppedCaps that the bounding set still has.
	bounding []uintptr
	filter   []unix.SockFilter
	program  unix.SockFprog
}

// confine reads the capabilities of this process and prepares the confinement.
func confine() (*confinement, error) {
	c := &confinement{
		header: unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		filter: denyClone3(),
	}
	c.program = unix.SockFprog{Len: uint16(len(c.filter)), Filter: &c.filter[0]}
	if err := unix.Capget(&c.header, &c.caps[0]); err != nil {
		return nil, fmt.Errorf("reading capabilities: %w", err)
	}
	for _, number := range droppedCaps {
		set, bit := &c.caps[number/32], uint32(1)<<(number%32)
		set.Effective &^= bit
		set.Permitted &^= bit
		set.Inheritable &^= bit // which takes it out of the ambient set as well
		bounded, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, number, 0, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("reading the bounding set: %w", err)
		}
		if bounded == 1 {
			c.bounding = append(c.bounding, number)
		}
	}
	return c, nil
}

// calls are the system calls that apply the confinement to the calling process.
func (c *confinement) calls() []call {
	calls := []call{{name: "no_new_privs", nr: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_SET_NO_NEW_PRIVS, 1}}}
	for _, number := range c.bounding {
		calls = append(calls, call{name: "bounding set", nr: unix.SYS_PRCTL, args: [6]uintptr{unix.PR_CAPBSET_DROP, number}})
	}
	return append(calls,
		call{name: "capset", nr: unix.SYS_CAPSET, args: [6]uintptr{
			uintptr(unsafe.Pointer(&c.header)), uintptr(unsafe.Pointer(&c.caps)),
		}},
		call{name: "seccomp", nr: unix.SYS_SECCOMP, args: [6]uintptr{
			unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&c.program)),
		}})
}

// denyClone3 is a filter program that answers clone3 with ENOSYS, for which the
// C libraries and Go have a fallback, and allows all else. clone3 has the same
// number in every ABI of Linux, but for the mark of x32.
func denyClone3() []unix.SockFilter {
	const (
		offsetOfNumber = 0 // in struct seccomp_data
		x32Mark        = 0x40000000
	)
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfNumber},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SYS_CLONE3},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: x32Mark | unix.SYS_CLONE3},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
}
