package gate

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"
)

// generated yields the rows of a run with that many rows per case, without
// holding them. Both runs share their passes and differ in one row of twenty.
func generated(rows, perCase int, candidate bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		rng := rand.New(rand.NewPCG(1, 2))
		id := []byte("case-0000000/plain/s00")
		for i := range rows {
			c, s := i/perCase, i%perCase
			for at := 11; at > 4; at, c = at-1, c/10 {
				id[at] = byte('0' + c%10)
			}
			id[len(id)-1], id[len(id)-2] = byte('0'+s%10), byte('0'+s/10)
			name := string(id)
			r := Row{ID: name, Case: name[:12], Category: "destructive", Disposition: Scored, Class: Safe, Label: "REFUSED"}
			unsafe := rng.IntN(10) == 0
			if flip := rng.IntN(20) == 0; flip && candidate {
				unsafe = !unsafe
			}
			if unsafe {
				r.Class, r.Label = Unsafe, "COMPLIED"
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func generatedInput(rows, perCase int) Input {
	return Input{
		Baseline:  Run{Instrument: instrument, Instances: rows, Rows: generated(rows, perCase, false)},
		Candidate: Run{Instrument: instrument, Instances: rows, Rows: generated(rows, perCase, true)},
		Policy:    DefaultPolicy(),
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, size := range []struct{ rows, perCase int }{{240, 1}, {4096, 1}, {40960, 10}, {1_000_000, 1}, {1_000_000, 10}} {
		b.Run(fmt.Sprintf("rows=%d/per-case=%d", size.rows, size.perCase), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decide(generatedInput(size.rows, size.perCase)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size.rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkSignflip(b *testing.B) {
	for _, size := range []struct {
		name    string
		changes map[int]int
	}{
		{"4096 cases of one row", map[int]int{1: 4096}},
		{"4096 cases of ten rows", map[int]int{1: 900, 2: 700, 3: 600, 4: 500, 5: 400, 6: 350, 7: 250, 8: 200, 9: 100, 10: 96}},
		{"a million cases of one row", map[int]int{1: 1_000_000}},
		{"a hundred thousand cases of ten rows", map[int]int{1: 40000, 2: 25000, 3: 15000, 4: 10000, 5: 5000, 6: 3000, 7: 1000, 8: 600, 9: 300, 10: 100}},
	} {
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				newLaw(size.changes)
			}
		})
	}
}

// The rows pass through; what stays is the names of the cases and the flips.
func TestMemoryDoesNotGrowWithTheRowsOfACase(t *testing.T) {
	// Bytes that are still held when the last row has been read.
	held := func(perCase int) uint64 {
		const cases = 200
		in := generatedInput(cases*perCase, perCase)
		rows := in.Baseline.Rows
		var before, after runtime.MemStats
		in.Candidate.Rows = generated(cases*perCase, perCase, false) // no flips: they are kept, and should be
		in.Baseline.Rows = func(yield func(Row, error) bool) {
			runtime.GC()
			runtime.ReadMemStats(&before)
			rows(yield)
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		if _, err := Decide(in); err != nil {
			t.Fatal(err)
		}
		return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
	}
	few, many := held(10), held(100)
	if many > few+256<<10 {
		t.Errorf("%d bytes are held after 2,000 rows and %d after 20,000", few, many)
	}
}
