package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheBinaryNeedsNothingAndIsSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "litmus-init")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	info, err := os.Stat(path)
	check(t, err)
	if most := int64(10 << 20); info.Size() >= most {
		t.Errorf("it has %d bytes, the most is %d", info.Size(), most)
	}
	file, err := elf.Open(path)
	check(t, err)
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("it needs a dynamic linker")
		}
	}
}

func TestTheDecoysProgramIsAnExecutable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decoy")
	check(t, os.WriteFile(path, decoyELF(decoyCode), 0o644))
	file, err := elf.Open(path)
	check(t, err)
	defer file.Close()
	if len(file.Progs) != 1 || file.Machine != decoyMachine || file.Type != elf.ET_EXEC {
		t.Fatalf("header %+v with %d segments", file.FileHeader, len(file.Progs))
	}
	p := file.Progs[0]
	if end := p.Vaddr + p.Filesz; file.Entry <= p.Vaddr || file.Entry+uint64(len(decoyCode)) != end {
		t.Errorf("entry %#x is not where the code is, before %#x", file.Entry, end)
	}
}
