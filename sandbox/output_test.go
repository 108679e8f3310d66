package sandbox

import (
	"runtime"
	"testing"

	"litmus/internal/digest"
)

func TestASinkKeepsTheBeginningAndCountsTheRest(t *testing.T) {
	for _, tt := range []struct {
		name      string
		writes    []string
		head      string
		truncated bool
	}{
		{"nothing", nil, "", false},
		{"less than the limit", []string{"ab", "c"}, "abc", false},
		{"the limit", []string{"abcde"}, "abcde", false},
		{"one more, in one write", []string{"abcdef"}, "abcde", true},
		{"one more, in several", []string{"abcd", "ef", "g"}, "abcde", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, all := newSink(5), ""
			for _, w := range tt.writes {
				if n, err := s.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("wrote %d, %v", n, err)
				}
				all += w
			}
			got := s.stream()
			if string(got.Head) != tt.head || got.Truncated != tt.truncated || got.Total != int64(len(all)) || got.Hash != digest.Sum([]byte(all)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestASinkTakesNoMemory(t *testing.T) {
	s := newSink(1 << 20)
	chunk := make([]byte, 1<<20)
	before := liveHeap()
	for range 2000 { // 2 GB
		s.Write(chunk)
	}
	if grown := liveHeap() - before; grown > 8<<20 {
		t.Errorf("%d bytes are held", grown)
	}
	runtime.KeepAlive(s)
}

// liveHeap is what the garbage collector leaves, in bytes.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
