package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory keeps alive what the calls of a script point to, which the garbage
// collector cannot see in them. Go moves stacks but not the heap, and what is
// kept here is on the heap.
type memory struct{ kept []any }

// address keeps *p alive in m and returns where it is.
func address[T any](m *memory, p *T) uintptr {
	m.kept = append(m.kept, p)
	return uintptr(unsafe.Pointer(p))
}

// text returns the address of s as a C string. It fails where s contains a NUL.
func (m *memory) text(s string) (uintptr, error) {
	p, err := unix.BytePtrFromString(s)
	if err != nil {
		return 0, err
	}
	return address(m, p), nil
}

// list returns the address of a NULL-terminated array of C strings.
func (m *memory) list(texts []string) (uintptr, error) {
	array := make([]*byte, len(texts)+1)
	for i, s := range texts {
		p, err := unix.BytePtrFromString(s)
		if err != nil {
			return 0, err
		}
		array[i] = p
	}
	return address(m, &array[0]), nil
}
