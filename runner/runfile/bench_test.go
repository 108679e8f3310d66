package runfile

import (
	"bytes"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// BenchmarkCommit takes instances the whole way: write ahead, judge input,
// record, each on the disk before the next. The disk's sync is in it.
func BenchmarkCommit(b *testing.B) {
	manifest, err := makeManifest(b.N, "rubric")
	if err != nil {
		b.Fatal(err)
	}
	w, err := Create(b.Context(), filepath.Join(b.TempDir(), "run.litmus"), bytes.NewReader(manifest), Meta{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var next atomic.Int64
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := runInstance(b.Context(), w, instanceID(int(next.Add(1)-1))); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "instances/s")
}

func BenchmarkVerify(b *testing.B) {
	const n = 2000
	path, _ := sealedRun(b, n)
	b.ResetTimer()
	for b.Loop() {
		report, err := Verify(b.Context(), path, testHooks)
		if err != nil || len(report.Findings) > 0 {
			b.Fatal(report.Findings, err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "instances/s")
}

func BenchmarkCreate(b *testing.B) {
	manifest := testManifest(b, 50_000)
	b.SetBytes(int64(len(manifest)))
	for b.Loop() {
		w, err := Create(b.Context(), filepath.Join(b.TempDir(), "run.litmus"), bytes.NewReader(manifest), Meta{})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
