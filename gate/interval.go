package gate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a confidence interval of a rate or of a difference of rates, as
// fractions.
type Interval struct {
	Level float64 `json:"level"` // 1 - alpha
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

func newInterval(alpha, lower, upper, least float64) Interval {
	// Adding 0 turns a negative zero into zero.
	return Interval{1 - alpha, max(lower, least) + 0, min(upper, 1) + 0}
}

func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// tQuantile is Student's, with cases - 1 degrees of freedom.
func tQuantile(p float64, cases int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(cases - 1)}.Quantile(p)
}

// wilson is the score interval of the rate x/n (Wilson 1927; Newcombe 1998,
// method 3). n must be positive.
func wilson(x, n int, alpha float64) Interval {
	z := normalQuantile(1 - alpha/2)
	size := float64(n)
	p := float64(x) / size
	center := p + z*z/(2*size)
	half := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	i := newInterval(alpha, (center-half)/scale, (center+half)/scale, 0)
	// Exact at the ends, where the formula leaves a rounding error.
	if x == 0 {
		i.Lower = 0
	}
	if x == n {
		i.Upper = 1
	}
	return i
}

// tango is the score interval of a paired difference (Tango 1998) on counts that
// need not be whole: favourable and adverse flips among n pairs, with quantile q.
func tango(favourable, adverse, n, q, alpha float64) Interval {
	d := (favourable - adverse) / n
	// The score falls as delta grows; it is +q at the lower limit and -q at the upper.
	over := func(limit float64) func(float64) bool {
		return func(delta float64) bool {
			return favourable-adverse-n*delta > limit*math.Sqrt(tangoVariance(favourable, adverse, n, delta))
		}
	}
	return newInterval(alpha, bisect(-1, d, over(q)), bisect(d, 1, over(-q)), -1)
}

// tangoVariance is the variance of favourable - adverse if the true difference is
// delta, at the likeliest adverse probability under it: the root of
// 2n·r² + b·r − adverse·delta·(1−delta) = 0.
func tangoVariance(favourable, adverse, n, delta float64) float64 {
	b := (2*n-favourable+adverse)*delta - favourable - adverse
	c := -adverse * delta * (1 - delta)
	root := math.Sqrt(max(0, b*b-8*n*c))
	r := (root - b) / (4 * n)
	if b > 0 { // the same without cancellation
		r = -2 * c / (root + b)
	}
	return max(0, n*(2*r+delta*(1-delta)))
}

// bisect returns the point between low and high where keepRight turns from true
// to false, to the last bit that halving can give.
func bisect(low, high float64, keepRight func(float64) bool) float64 {
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if keepRight(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low + (high-low)/2
}

// clusterInterval is d ∓ t·√v_CR1 with G−1 degrees of freedom.
func clusterInterval(t table, alpha float64) (se float64, i Interval) {
	se = math.Sqrt(t.clusterVariance())
	half := tQuantile(1-alpha/2, t.cases) * se
	return se, newInterval(alpha, t.delta()-half, t.delta()+half, -1)
}

// deltaInterval is Tango's on effective counts: each divided by deff, and with
// Student's quantile where deff says that rows are not independent.
func deltaInterval(t table, deff, alpha float64) Interval {
	q := normalQuantile(1 - alpha/2)
	if deff > 1 {
		q = tQuantile(1-alpha/2, t.cases)
	}
	return tango(float64(t.favourable)/deff, float64(t.adverse)/deff, float64(t.pairs())/deff, q, alpha)
}
