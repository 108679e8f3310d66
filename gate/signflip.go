package gate

import (
	"maps"
	"slices"
)

// negligible is the probability below which the ends of a law are cut off. Tails
// above leastP are then still exact to 1e-10 and better.
const (
	negligible = 1e-100
	leastP     = 1e-80
)

// law is the exact distribution of S* = sum of ±|D| over cases with independent
// fair signs: the null of the cluster sign-flip test (Fisher 1935; with |D| = 1
// throughout it is that of exact McNemar). All attainable sums have one parity.
type law struct {
	low   int       // the least sum kept
	mass  []float64 // mass[i] = P(S* = low + 2i)
	upper []float64 // upper[i] = P(S* >= low + 2i)
}

// newLaw convolves over integers. changes maps |D| > 0 to the number of cases
// with that net change; such a group alone is |D| times a centred binomial, so
// the cost depends on the different |D|, not on the cases.
func newLaw(changes map[int]int) law {
	l := law{mass: []float64{1}}
	for _, change := range slices.Sorted(maps.Keys(changes)) {
		l.convolve(change, changes[change])
	}
	l.upper = make([]float64, len(l.mass))
	sum := 0.0
	for i := len(l.mass) - 1; i >= 0; i-- {
		sum += l.mass[i]
		l.upper[i] = sum
	}
	return l
}

func (l *law) convolve(change, cases int) {
	first, heads := fairCoins(cases)
	sum := make([]float64, len(l.mass)+change*(len(heads)-1))
	for j, p := range heads {
		window := sum[change*j:][:len(l.mass)]
		for i, m := range l.mass {
			window[i] += p * m
		}
	}
	l.low += change * (2*first - cases)
	// The law is symmetric, and so is what is cut off.
	cut := 0
	for sum[cut] < negligible && sum[len(sum)-1-cut] < negligible {
		cut++
	}
	l.mass, l.low = sum[cut:len(sum)-cut], l.low+2*cut
}

// fairCoins returns P(Bin(n, 1/2) = first + j), without negligible ends. It
// starts from the middle, as C(2m, m)/4^m = product of (2i-1)/2i, and divides
// last, so that the result is exact while it fits into 53 bits.
func fairCoins(n int) (first int, p []float64) {
	m := n / 2
	middle := 1.0
	for i := 1; i <= m; i++ {
		middle = middle * float64(2*i-1) / float64(2*i)
	}
	if n%2 == 1 {
		middle = middle * float64(n) / float64(2*(m+1))
	}
	lower := []float64{middle} // from the middle down
	for j := m; j > 0; j-- {
		next := lower[len(lower)-1] * float64(j) / float64(n-j+1)
		if next < negligible {
			break
		}
		lower = append(lower, next)
	}
	first = m - (len(lower) - 1)
	p = make([]float64, n-2*first+1)
	for i, value := range lower {
		p[m-i-first], p[n-(m-i)-first] = value, value
	}
	return first, p
}

// at returns the index of the least attainable sum that is not below s.
func (l law) at(s int) int {
	return max(0, (s-l.low+1)>>1)
}

// atLeast is P(S* >= s) as far as the law was kept.
func (l law) atLeast(s int) float64 {
	if i := l.at(s); i < len(l.upper) {
		return l.upper[i]
	}
	return 0
}

// probability is P(S* = s).
func (l law) probability(s int) float64 {
	i := l.at(s)
	if i >= len(l.mass) || l.low+2*i != s {
		return 0
	}
	return l.mass[i]
}

// tail is P(S* >= s).
func (l law) tail(s int) float64 { return asP(l.atLeast(s)) }

// twoSided is P(|S*| >= |s|).
func (l law) twoSided(s int) float64 {
	if s == 0 {
		return 1
	}
	return asP(2 * l.atLeast(max(s, -s)))
}

// twoSidedMid is twoSided less half the probability of the observed |s|.
func (l law) twoSidedMid(s int) float64 {
	if s == 0 {
		return 1 - l.probability(0)/2
	}
	return asP(2*l.atLeast(max(s, -s)) - l.probability(s))
}

// worseMid is P(S* <= s) less half the probability of s: the one-sided mid-p of a
// change for the worse. By symmetry it is a tail of the upper end.
func (l law) worseMid(s int) float64 {
	return asP(l.atLeast(-s) - l.probability(s)/2)
}

// asP keeps rounding from making a p-value larger than 1, and cut ends from making
// it 0, which no exact test can give.
func asP(p float64) float64 { return min(1, max(p, leastP)) }

// floor is the largest attainable |s| whose two-sided tail exceeds alpha, so that
// |S| > floor if and only if twoSided(S) <= alpha.
func (l law) floor(alpha float64) int {
	for i := len(l.mass) - 1; i >= 0; i-- {
		s := l.low + 2*i
		if s < 0 {
			break
		}
		if l.mass[i] > 0 && l.twoSided(s) > alpha {
			return s
		}
	}
	return 0
}
