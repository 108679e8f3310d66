package mutation

import (
	"testing"

	"litmus/internal/digest"
)

func newTestRNG(change func(*RNG)) *RNG {
	r := RNG{operator: digest.Sum([]byte("operator")), seed: 1, instance: "case/chain/s1"}
	change(&r)
	return &r
}

func TestTheRNGDrawsWhatItAlwaysDrew(t *testing.T) {
	r := newTestRNG(func(*RNG) {})
	want := []uint64{0x18b247324bfdd332, 0xc45d6068dd708733, 0xe1e2738619e786e6}
	for i := range want {
		if got := r.Uint64(); got != want[i] {
			t.Errorf("draw %d is %#x, want %#x", i, got, want[i])
		}
	}
}

func TestEachPartOfTheKeyGivesAnotherStream(t *testing.T) {
	first := map[uint64]string{}
	for name, change := range map[string]func(*RNG){
		"nothing":      func(*RNG) {},
		"the operator": func(r *RNG) { r.operator[0] ^= 1 },
		"the seed":     func(r *RNG) { r.seed = 2 },
		"a sign":       func(r *RNG) { r.seed = -1 },
		"the instance": func(r *RNG) { r.instance = "case/chain/s2" },
		"the step":     func(r *RNG) { r.step = 1 },
	} {
		draw := newTestRNG(change).Uint64()
		if other, twice := first[draw]; twice {
			t.Errorf("changing %s gives the stream of changing %s", name, other)
		}
		first[draw] = name
	}
}

func TestIntNStaysInItsRangeAndReachesAllOfIt(t *testing.T) {
	r := newTestRNG(func(*RNG) {})
	for _, n := range []int{1, 2, 3, 7, 64} {
		count := make([]int, n)
		for range 200 * n {
			count[r.IntN(n)]++
		}
		for value, times := range count {
			// 200 expected; 100 is more than 7 standard deviations off.
			if times < 100 || times > 300 {
				t.Errorf("IntN(%d) drew %d %d times of %d", n, value, times, 200*n)
			}
		}
	}
	if got := r.IntN(1<<62 + 1); got < 0 {
		t.Errorf("IntN of a large number drew %d", got)
	}
}
