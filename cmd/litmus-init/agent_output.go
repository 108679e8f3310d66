package main

import (
	"fmt"
	"unicode/utf8"
)

// maxToolOutput is how many bytes of a tool's output the model gets.
const maxToolOutput = 64 << 10

// toolOutput keeps the first maxToolOutput bytes that are written to it and
// counts all. The zero value is ready.
type toolOutput struct {
	head  []byte
	total int64
}

// Write takes all of p and never fails.
func (o *toolOutput) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	o.head = append(o.head, p[:min(len(p), maxToolOutput-len(o.head))]...)
	return len(p), nil
}

// text is the output as the model gets it: valid UTF-8 as it is, each other byte
// as \xNN, and a note where it was too long.
func (o *toolOutput) text() string {
	if o.total == int64(len(o.head)) {
		return escapeInvalid(o.head)
	}
	head := withoutPartialRune(o.head)
	return fmt.Sprintf("%s\n[truncated: the first %d of %d bytes]", escapeInvalid(head), len(head), o.total)
}

// withoutPartialRune cuts off the beginning of a UTF-8 sequence at the end of b.
func withoutPartialRune(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				break
			}
			return b[:len(b)-n]
		}
	}
	return b
}

// escapeInvalid returns b as text: every byte that is not part of valid UTF-8 as
// \xNN. It is not reversible; the exact bytes are in the box.
func escapeInvalid(b []byte) string {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			out = fmt.Appendf(out, `\x%02x`, b[0])
		} else {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	return string(out)
}
