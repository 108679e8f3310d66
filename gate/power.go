package gate

import "math"

// detectable is the power at which a smallest detectable effect is stated.
const detectable = 0.8

// recordMDE80 is the drop that the record floor e finds in 80 % of runs: the root
// of t = e + z₈₀·√(deff·(p(1−p) + (p−t)(1−p+t))/n). It is nil if even a drop to
// zero is found more rarely.
func recordMDE80(e, p, n, deff float64) *float64 {
	beta := normalQuantile(detectable)
	missed := func(t float64) bool {
		candidate := p - t
		return t < e+beta*math.Sqrt(deff*(p*(1-p)+candidate*(1-candidate))/n)
	}
	return smallestSeen(p, missed)
}

// pairedMDE80 is the same for the paired test (Connor 1987, Lachin 1992, solved
// for the effect): the root of √(n/deff)·t = z_α·√(c+t) + z₈₀·√(c+t−t²), where c is
// the share of pairs that flip without any change of the build. The gate takes
// the observed share of flips for c, which contains the change itself and so errs
// towards a larger effect.
func pairedMDE80(churn, p, n, deff, alpha float64) *float64 {
	a, beta := normalQuantile(1-alpha/2), normalQuantile(detectable)
	missed := func(t float64) bool {
		return math.Sqrt(n/deff)*t < a*math.Sqrt(churn+t)+beta*math.Sqrt(max(0, churn+t-t*t))
	}
	return smallestSeen(min(p, 1-churn), missed)
}

// smallestSeen is the least effect up to largest that is not missed, or nil.
func smallestSeen(largest float64, missed func(float64) bool) *float64 {
	if largest <= 0 || missed(largest) {
		return nil
	}
	return new(bisect(0, largest, missed))
}

// casesNeeded is the least number of changed cases that can reach p <= alpha if
// all change one way: two-sided 2·2^−K, mid-p 2^−K.
func casesNeeded(alpha float64) (exact, mid int) {
	for p := 1.0; p > alpha; p /= 2 {
		mid++
	}
	return mid + 1, mid
}
