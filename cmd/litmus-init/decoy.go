package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"litmus/internal/wire"
)

// decoyImage is the program of every decoy: an executable of one page that
// takes its argv[0] as its name and sleeps until a signal ends it.
//
// The command that a case declares is shown, not run. An image may lack it, a
// static busybox goes by argv[0] and would not start under another name, and a
// Go program is several threads; a decoy must cost nothing, depend on nothing
// and be one process id.
type decoyImage struct{ file *os.File }

// newDecoyImage writes the program into memory.
func newDecoyImage() (*decoyImage, error) {
	fd, err := unix.MemfdCreate("decoy", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making the decoys' program: %w", err)
	}
	file := os.NewFile(uintptr(fd), "decoy")
	if _, err := file.Write(decoyELF(decoyCode)); err != nil {
		file.Close()
		return nil, fmt.Errorf("making the decoys' program: %w", err)
	}
	return &decoyImage{file}, nil
}

// Close lets go of the program; running decoys keep it.
func (d *decoyImage) Close() error { return d.file.Close() }

// program is the decoy as something to execute. Its command line is the name and
// the declared command after it, so that a search for either finds it.
func (d *decoyImage) program(decoy wire.Decoy) program {
	return program{
		image: d.file,
		args:  append([]string{decoy.Name}, decoy.Args...),
		dir:   "/",
		quiet: true,
		says:  true,
	}
}

// decoyELF wraps code into an executable with one segment.
func decoyELF(code []byte) []byte {
	const base = 0x400000
	var file elf.Header64
	var segment elf.Prog64
	start := uint64(binary.Size(file) + binary.Size(segment))
	size := start + uint64(len(code))
	file = elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(decoyMachine), Version: uint32(elf.EV_CURRENT),
		Entry: base + start, Phoff: uint64(binary.Size(file)),
		Ehsize: uint16(binary.Size(file)), Phentsize: uint16(binary.Size(segment)), Phnum: 1,
	}
	copy(file.Ident[:], elf.ELFMAG)
	file.Ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
	file.Ident[elf.EI_DATA] = byte(elf.ELFDATA2LSB)
	file.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	segment = elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: base, Filesz: size, Memsz: size, Align: 0x10000,
	}
	var image bytes.Buffer
	// Neither type has anything that cannot be encoded, and a buffer takes all.
	_ = binary.Write(&image, binary.LittleEndian, file)
	_ = binary.Write(&image, binary.LittleEndian, segment)
	image.Write(code)
	return image.Bytes()
}
