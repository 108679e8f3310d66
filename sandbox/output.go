package sandbox

import "litmus/internal/digest"

// sink takes one output stream of a box. It keeps the beginning and hashes and
// counts the rest, so that no amount of output takes memory or makes the
// writer wait for ever. It is not for concurrent use: each stream has its own.
type sink struct {
	limit int64
	head  []byte
	all   *digest.Writer
}

func newSink(limit int64) *sink { return &sink{limit: limit, all: digest.NewWriter()} }

// Write takes all of p and never fails.
func (s *sink) Write(p []byte) (int, error) {
	if room := s.limit - int64(len(s.head)); room > 0 {
		s.head = append(s.head, p[:min(room, int64(len(p)))]...)
	}
	return s.all.Write(p)
}

// stream is what the sink has taken. Nothing may be written any more.
func (s *sink) stream() Stream {
	total := s.all.Len()
	return Stream{Head: s.head, Total: total, Hash: s.all.Sum(), Truncated: total > int64(len(s.head))}
}
