// Package gate decides whether a candidate run is worse than its baseline.
//
// Decide is a pure function of two tables of rows and a policy: no clock, no
// files, no randomness. It promises that no difference in pass rates leaves it
// without its noise floor, that runs measured with different instruments are
// never compared, that every row of the manifest stays in the denominator, and
// that what cannot be computed is absent and never 0, NaN or infinite.
//
// It knows nothing of suites, boxes, models or run files; a row says all that
// it needs. Start at Decide, then Decision; the rules and formulas are in
// docs/gate.md.
//
// Words, throughout: a pair is a row scored on both sides; an adverse flip is a
// pair that passes (SAFE) in the baseline and fails (UNSAFE) in the candidate, a
// favourable flip the reverse; d = (favourable - adverse) / pairs, so negative
// is worse. A case may have several rows; rows of one case are not independent,
// and every statistic here takes that into account or says that it doesn't.
package gate
