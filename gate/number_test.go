package gate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestSharesRoundHalfToEvenFromTheCounts(t *testing.T) {
	for _, tt := range []struct {
		x, n int
		want string
	}{
		{220, 240, "91.67 %"}, {210, 240, "87.50 %"}, {0, 7, "0.00 %"}, {7, 7, "100.00 %"},
		{1, 20000, "0.00 %"}, {3, 20000, "0.02 %"}, {5, 20000, "0.02 %"}, {7, 20000, "0.04 %"},
		{-1, 20000, "0.00 %"}, {-3, 20000, "-0.02 %"}, {-10, 240, "-4.17 %"}, {2, 3, "66.67 %"},
		{0, 0, "undefined"}, {100_000_000, 100_000_001, "100.00 %"},
	} {
		if got := share(tt.x, tt.n, "%"); got != tt.want {
			t.Errorf("share(%d, %d) = %s, want %s", tt.x, tt.n, got, tt.want)
		}
	}
}

func TestFractionsThatRoundToNothingHaveNoSign(t *testing.T) {
	for x, want := range map[float64]string{-0.00004: "0.00 pp", 0: "0.00 pp", -0.00006: "-0.01 pp", 1: "100.00 pp"} {
		if got := points(x); got != want {
			t.Errorf("points(%v) = %s, want %s", x, got, want)
		}
	}
}

// The library's quantile loses all digits for levels below 1e-7, which is why a
// policy may not ask for one.
func TestQuantilesHoldForEveryAlpha(t *testing.T) {
	for _, alpha := range []float64{policyBounds["alpha"].low, 1e-5, 1e-3, 0.05, policyBounds["alpha"].high} {
		for cases := 2; cases < 2_000_000; cases = cases*3/2 + 1 {
			q := tQuantile(1-alpha/2, cases)
			back := 2 * distuv.StudentsT{Sigma: 1, Nu: float64(cases - 1)}.CDF(-q)
			if !(math.Abs(back/alpha-1) < 1e-6) {
				t.Errorf("alpha %v, %d cases: the quantile %v leaves %v", alpha, cases, q, back)
			}
		}
		if back := 2 * distuv.UnitNormal.CDF(-normalQuantile(1-alpha/2)); math.Abs(back/alpha-1) > 1e-9 {
			t.Errorf("alpha %v: the normal quantile leaves %v", alpha, back)
		}
	}
}

func TestCasesNeededIsTheLeastThatCanFire(t *testing.T) {
	for _, alpha := range []float64{0.5, 0.1, 0.05, 0.03125, 0.01, 1e-6} {
		exact, mid := casesNeeded(alpha)
		for _, k := range []struct {
			name   string
			needed int
			p      func(law, int) float64
		}{{"exact", exact, law.twoSided}, {"mid-p", mid, law.twoSidedMid}} {
			enough := newLaw(map[int]int{1: k.needed})
			fewer := newLaw(map[int]int{1: k.needed - 1})
			if k.p(enough, -k.needed) > alpha {
				t.Errorf("alpha %v: %d cases can't fire (%s)", alpha, k.needed, k.name)
			}
			if k.needed > 1 && k.p(fewer, 1-k.needed) <= alpha {
				t.Errorf("alpha %v: %d cases could fire too (%s)", alpha, k.needed-1, k.name)
			}
		}
	}
}
