package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// enumerate returns P(|S*| >= |s|) by going through all sign vectors.
func enumerate(changes []int, s int) float64 {
	hits := 0
	for signs := range 1 << len(changes) {
		sum := 0
		for i, c := range changes {
			if signs>>i&1 == 1 {
				sum += c
			} else {
				sum -= c
			}
		}
		if max(sum, -sum) >= max(s, -s) {
			hits++
		}
	}
	return float64(hits) / float64(int(1)<<len(changes))
}

func TestTheLawIsThatOfAllSignVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for range 200 {
		var changes []int
		counted := map[int]int{}
		total := 0
		for range rng.IntN(11) {
			c := 1 + rng.IntN(6)
			changes = append(changes, c)
			counted[c]++
			total += c
		}
		law := newLaw(counted)
		for s := -total; s <= total; s += 2 {
			want := enumerate(changes, s)
			if got := law.twoSided(s); got != want { // dyadic, so exact
				t.Fatalf("%v: P(|S*| >= %d) = %v, want %v", changes, s, got, want)
			}
			floor := law.floor(0.05)
			if fires := max(s, -s) > floor; fires != (want <= 0.05) && want > 0 && attainable(law, s) {
				t.Fatalf("%v: S = %d against the floor %d, p = %v", changes, s, floor, want)
			}
		}
	}
}

func attainable(l law, s int) bool { return l.probability(s) > 0 }

func TestALevelThatIsMetExactlyFires(t *testing.T) {
	// Six one-way flips: p is 2^-5 exactly.
	law := newLaw(map[int]int{1: 6})
	if p := law.twoSided(-6); p != 1.0/32 || law.floor(1.0/32) >= 6 {
		t.Errorf("p = %v, floor %d", p, law.floor(1.0/32))
	}
	if law.floor(math.Nextafter(1.0/32, 0)) != 6 {
		t.Error("a level just below p fires")
	}
}

func TestWithoutAnyChangeNothingCanFire(t *testing.T) {
	law := newLaw(nil)
	if law.twoSided(0) != 1 || law.twoSidedMid(0) != 0.5 || law.floor(0.05) != 0 {
		t.Errorf("p %v, mid-p %v, floor %d", law.twoSided(0), law.twoSidedMid(0), law.floor(0.05))
	}
}

func TestManyCasesKeepTheirDigits(t *testing.T) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		law := newLaw(map[int]int{1: n})
		whole := 0.0
		for _, m := range law.mass {
			whole += m
		}
		if math.Abs(whole-1) > 1e-10 {
			t.Errorf("%d cases: the law sums to %v", n, whole)
		}
		// Against the normal tail with continuity correction, two deviations out.
		s := 2 * int(math.Sqrt(float64(n)))
		s += (s + n) % 2
		want := math.Erfc((float64(s) - 1) / math.Sqrt(2*float64(n)))
		if got := law.twoSided(s); math.Abs(got/want-1) > 0.002 {
			t.Errorf("%d cases: p(%d) = %v, normal %v", n, s, got, want)
		}
	}
}

func TestAPBeyondAllDigitsIsABoundAndNotZero(t *testing.T) {
	law := newLaw(map[int]int{1: 2000})
	if p := law.twoSided(-2000); p <= 0 || p > 1e-79 {
		t.Errorf("p = %v", p)
	}
	if got := pValue(law.twoSidedMid(-2000)); got != "p < 1e-80" {
		t.Errorf("printed as %s", got)
	}
}
