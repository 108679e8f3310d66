package gate

import (
	"math"
	"math/big"
)

// boundaryCount: with fewer passes or fewer failures than this in the baseline,
// its rate says too little about its own variance.
const boundaryCount = 5

// recordE is the records' noise floor, the half-width of a two-sample interval at
// the baseline's rate: z·√(2p(1−p)/n), p = x/n. It is a fraction, not points.
func recordE(x, n, z float64) float64 {
	p := x / n
	return z * math.Sqrt(2*p*(1-p)/n)
}

// boundaryE is recordE for the baseline with z²/2 passes and z²/2 failures added
// (the centre of Wilson's interval). Unlike recordE it is not 0 at a rate of 1.
func boundaryE(x, n, z float64) float64 {
	return recordE(x+z*z/2, n+z*z, z)
}

// guardedE is the record floor with both guards: boundary reports whether the
// first one acted. Neither can make the floor smaller.
func guardedE(x, n int, z, deff float64) (e float64, boundary bool) {
	e = recordE(float64(x), float64(n), z)
	if min(x, n-x) < boundaryCount {
		boundary = true
		e = max(e, boundaryE(float64(x), float64(n), z))
	}
	return e * math.Sqrt(deff), boundary
}

// clusterVariance is the cluster-robust variance of d, CR1 (Liang and Zeger 1986
// with the G/(G−1) correction): G/(G−1)·Σ(D−d·M)²/n². The table must be defined.
func (t table) clusterVariance() float64 {
	// n²·Σ(D−d·M)² = n²ΣD² − 2nSΣDM + S²ΣM² is a difference of large integers that
	// floating point would lose.
	n, s := big.NewInt(int64(t.pairs())), big.NewInt(int64(t.net()))
	term := func(sum int, factors ...*big.Int) *big.Int {
		v := big.NewInt(int64(sum))
		for _, f := range factors {
			v.Mul(v, f)
		}
		return v
	}
	squares := term(t.sumDD, n, n)
	squares.Sub(squares, term(2*t.sumDM, n, s))
	squares.Add(squares, term(t.sumMM, s, s))
	sum, _ := new(big.Float).SetInt(squares).Float64()
	g, rows := float64(t.cases), float64(t.pairs())
	return g / (g - 1) * (sum / rows / rows) / rows / rows
}

// designEffect is deff = max(1, v_CR1/v_iid): how much less a row is worth for
// standing beside others of its case. It is 1 where no case has several rows, or
// nothing flipped. v_iid = (flips − S²/n)/(n(n−1)).
func (t table) designEffect() float64 {
	n, s := t.pairs(), t.net()
	spread := n*t.flips() - s*s // n·(flips − S²/n), exact
	if !t.clustered() || spread == 0 {
		return 1
	}
	independent := float64(spread) / float64(n) / float64(n) / float64(n-1)
	return max(1, t.clusterVariance()/independent)
}
