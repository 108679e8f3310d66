package sandbox_test

import (
	"testing"
	"time"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

// BenchmarkBox is what a box costs beyond the agent's own time: the agent does
// nothing. With -cpu 1,8 it is one box at a time, and eight.
func BenchmarkBox(b *testing.B) {
	boxes := openBoxes(b, sandboxtest.Private)
	spec := boxes.spec("true", file("/srv/a", "a"), file("/scratch/b", "b"))
	boxes.run(b, spec)
	took := make(chan []sandbox.Timing, 1024)
	steps := map[string]time.Duration{}
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for timings := range took {
			for _, t := range timings {
				steps[t.Step] += t.Took
			}
		}
	}()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			outcome, err := boxes.Run(b.Context(), spec)
			if err != nil {
				b.Error(err)
				return
			}
			took <- outcome.Facts.Timings
		}
	})
	b.StopTimer()
	close(took)
	<-counted
	for step, all := range steps {
		b.ReportMetric(float64(all.Microseconds())/1000/float64(b.N), step+"-ms")
	}
}
