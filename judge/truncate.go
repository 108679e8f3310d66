package judge

import "unicode/utf8"

// The policy truncation/1. A field of at most keepHead+keepTail bytes is kept
// whole. Of a longer one the first keepHead and the last keepTail bytes are
// kept, each cut back to a UTF-8 boundary. When only the beginning of a field is
// at hand, up to keepHead+keepTail bytes of that beginning are kept and no tail.
// The result depends on the field alone.
const (
	keepHead = 48 << 10
	keepTail = 16 << 10
)

// truncate returns the kept beginning and end of f and how many bytes are
// missing between them.
func truncate(f Field) (head, tail []byte, cut int64) {
	switch {
	case f.Total > int64(len(f.Head)):
		head = f.Head[:headEnd(f.Head, keepHead+keepTail)]
	case len(f.Head) > keepHead+keepTail:
		head = f.Head[:headEnd(f.Head, keepHead)]
		tail = f.Head[tailStart(f.Head, keepTail):]
	default:
		head = f.Head
	}
	return head, tail, f.Total - int64(len(head)) - int64(len(tail))
}

// headEnd returns the largest cut of b at or before n that does not split a
// character. In bytes that are no UTF-8 it is n.
func headEnd(b []byte, n int) int {
	if n >= len(b) {
		return len(b)
	}
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return n
}

// tailStart returns the smallest start in b, at or after the place n bytes
// before the end, that does not split a character; len(b)-n in other bytes.
func tailStart(b []byte, n int) int {
	start := max(len(b)-n, 0)
	for i := start; i <= len(b) && i < start+utf8.UTFMax; i++ {
		if i == len(b) || utf8.RuneStart(b[i]) {
			return i
		}
	}
	return start
}
