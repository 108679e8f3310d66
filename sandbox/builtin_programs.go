package sandbox

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
)

// Where Debian and its descendants install the static programs.
var (
	busyboxPaths = []string{"/bin/busybox", "/usr/bin/busybox"}
	bashPaths    = []string{"/bin/bash-static", "/usr/bin/bash-static"}
)

// programs are what the builtin image is made of.
type programs struct {
	busybox []byte
	bash    []byte
	// applets are the paths, without the leading slash, by which busybox
	// serves as another program.
	applets []string
}

func findPrograms(ctx context.Context) (programs, error) {
	busyboxPath, busybox, err := readStatic(busyboxPaths, "busybox-static")
	if err != nil {
		return programs{}, err
	}
	_, bash, err := readStatic(bashPaths, "bash-static")
	if err != nil {
		return programs{}, err
	}
	cmd := exec.CommandContext(ctx, busyboxPath, "--list-full")
	cmd.Env = []string{}
	list, err := cmd.Output()
	if err != nil {
		return programs{}, fmt.Errorf("listing applets of %s: %w", busyboxPath, err)
	}
	applets := parseApplets(string(list))
	if len(applets) == 0 {
		return programs{}, fmt.Errorf("listing applets of %s: it names none", busyboxPath)
	}
	return programs{busybox, bash, applets}, nil
}

// readStatic reads the first of the paths that is a statically linked program.
// A dynamic one, as the package busybox installs it, would need the host's
// libraries in the image.
func readStatic(paths []string, pkg string) (string, []byte, error) {
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("reading program for builtin image: %w", err)
		}
		if isStatic(b) {
			return p, b, nil
		}
	}
	return "", nil, &MissingError{
		What: fmt.Sprintf("builtin image: package %s is not installed", pkg),
		Fix:  "apt-get install " + pkg,
	}
}

// isStatic reports whether b is an ELF program that names no interpreter.
func isStatic(b []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return false
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// parseApplets reads the output of busybox --list-full, one path a line. Only
// the four program directories are taken (linuxrc lies outside of them), and
// not the places of the two real programs.
func parseApplets(list string) []string {
	var applets []string
	for line := range strings.Lines(list) {
		name := strings.TrimSpace(line)
		switch path.Dir(name) {
		case "bin", "sbin", "usr/bin", "usr/sbin":
			if name != "bin/busybox" && name != "bin/bash" {
				applets = append(applets, name)
			}
		}
	}
	return applets
}
