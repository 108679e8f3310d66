package importer

import (
	"bytes"
	"fmt"

	"litmus/internal/inputerror"
)

// place is where something stands in a file.
type place struct {
	file string
	line int // from 1
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func (p place) fault(field, fix, format string, args ...any) error {
	return &inputerror.Error{File: p.file, Line: p.line, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// lineAt returns the line of the byte at offset, from 1.
func lineAt(text []byte, offset int) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// withoutBOM removes the byte order mark that some editors put before UTF-8.
func withoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
