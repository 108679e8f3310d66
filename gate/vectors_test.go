package gate

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

// vector is one entry of testdata/gate-vectors.json: numbers of independent
// implementations (R, scipy, statsmodels, brute force), each with its source.
type vector struct {
	ID        string
	Function  string
	Inputs    json.RawMessage
	Expected  json.RawMessage
	Tolerance float64 `json:"tolerance_abs"`
}

// checks holds one check per function of the vectors. What is nil is not built
// yet, and is named here so that no vector is left out in silence.
var checks = map[string]func(*testing.T, vector){
	"record_floor":          checkRecordFloor,
	"guarded_floor":         checkGuardedFloor,
	"full_pair_report":      checkPairReport,
	"wilson":                checkWilson,
	"cluster_report":        checkClusterReport,
	"signflip":              checkSignflip,
	"hyper_tail,label_rule": checkLabelRule,
	"power":                 checkPower,
	"exclusion_bounds":      checkExclusionBounds,
	"newcombe_indep":        nil,
	"holm,bh,tarone":        nil,
	"eprocess":              nil,
}

func TestNumbersAgreeWithIndependentImplementations(t *testing.T) {
	text, err := os.ReadFile("testdata/gate-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, v := range file.Vectors {
		check, known := checks[v.Function]
		switch {
		case !known:
			t.Errorf("%s: no decision about the function %s", v.ID, v.Function)
		case check != nil:
			run++
			t.Run(v.ID, func(t *testing.T) { check(t, v) })
		}
	}
	if run != 14 {
		t.Errorf("%d vectors checked, want 14", run)
	}
}

func (v vector) read(t *testing.T, inputs, expected any) {
	t.Helper()
	if err := json.Unmarshal(v.Inputs, inputs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(v.Expected, expected); err != nil {
		t.Fatal(err)
	}
}

// near applies the vectors' own rule of comparison.
func (v vector) near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= v.Tolerance*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.13g, want %.13g", name, got, want)
	}
}

func (v vector) nearInterval(t *testing.T, name string, got Interval, want [2]float64) {
	t.Helper()
	v.near(t, name+" lower", got.Lower, want[0])
	v.near(t, name+" upper", got.Upper, want[1])
}

// singles returns pairs with one row per case.
func singles(c counts) table {
	var t table
	for _, group := range []struct {
		n      int
		single counts
	}{{c.bothPass, counts{bothPass: 1}}, {c.adverse, counts{adverse: 1}}, {c.favourable, counts{favourable: 1}}, {c.bothFail, counts{bothFail: 1}}} {
		for range group.n {
			t.addCase(group.single)
		}
	}
	return t
}

func checkRecordFloor(t *testing.T, v vector) {
	var in struct {
		Baseline  int `json:"pass_baseline"`
		Candidate int `json:"pass_candidate"`
		N, P, Z   float64
	}
	var want struct {
		P, D, E float64
		Verdict Kind
		EAtP917 float64 `json:"e_at_p_0_917"`
		TwoRun  float64 `json:"two_run_half_width"`
	}
	v.read(t, &in, &want)
	if want.TwoRun != 0 {
		v.near(t, "e", recordE(in.P*in.N, in.N, in.Z), want.TwoRun)
		return
	}
	lost := in.Baseline - in.Candidate
	all := singles(counts{bothPass: in.Candidate, adverse: lost, bothFail: int(in.N) - in.Baseline})
	r := DefaultPolicy().analyseRecord(all)
	v.near(t, "d", all.delta(), want.D)
	v.near(t, "e", r.UnguardedE, want.E)
	v.near(t, "e with the guards, which are inactive here", r.E, want.E)
	v.near(t, "e at p = 0.917", recordE(.917*in.N, in.N, in.Z), want.EAtP917)
	if r.Verdict != want.Verdict || r.UnguardedVerdict != want.Verdict {
		t.Errorf("verdict %s, unguarded %s, want %s", r.Verdict, r.UnguardedVerdict, want.Verdict)
	}
}

func checkGuardedFloor(t *testing.T, v vector) {
	var in struct {
		X       int `json:"pass_baseline"`
		N       int
		Z, Deff float64
		GuardK  int `json:"guard_k"`
	}
	var want struct {
		ERecord  float64                                   `json:"e_record"`
		EGuarded float64                                   `json:"e_guarded"`
		Verdicts struct{ Record, Guarded map[string]Kind } `json:"verdict_by_candidate_failures"`
		Other    map[string]float64                        `json:"guarded_for_other_x"`
	}
	v.read(t, &in, &want)
	if in.GuardK != boundaryCount {
		t.Fatalf("guard_k %d, built for %d", in.GuardK, boundaryCount)
	}
	v.near(t, "record", recordE(float64(in.X), float64(in.N), in.Z), want.ERecord)
	e, _ := guardedE(in.X, in.N, in.Z, in.Deff)
	v.near(t, "guarded", e, want.EGuarded)
	for text, other := range want.Other {
		e, _ := guardedE(number(t, text), in.N, in.Z, in.Deff)
		v.near(t, "guarded for x = "+text, e, other)
	}
	for text, kind := range want.Verdicts.Record {
		if got := allPassing(t, in.N, text).UnguardedVerdict; got != kind {
			t.Errorf("unguarded verdict on %s failures: %s, want %s", text, got, kind)
		}
	}
	for text, kind := range want.Verdicts.Guarded {
		if got := allPassing(t, in.N, text).Verdict; got != kind {
			t.Errorf("guarded verdict on %s failures: %s, want %s", text, got, kind)
		}
	}
}

// allPassing is a baseline of n passes against a candidate with some failures.
func allPassing(t *testing.T, n int, failures string) RecordAnalysis {
	t.Helper()
	lost := number(t, failures)
	return DefaultPolicy().analyseRecord(singles(counts{bothPass: n - lost, adverse: lost}))
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type mcNemarVector struct{ Exact, Midp, One, OneMidp float64 }

func (m *mcNemarVector) UnmarshalJSON(b []byte) error {
	var raw struct {
		Exact, Midp, One float64
		OneMidp          float64 `json:"one_midp"`
	}
	err := json.Unmarshal(b, &raw)
	*m = mcNemarVector(raw)
	return err
}

func (v vector) nearMcNemar(t *testing.T, c counts, want mcNemarVector) {
	t.Helper()
	law := newLaw(map[int]int{1: c.flips()})
	v.near(t, "exact", law.twoSided(c.net()), want.Exact)
	v.near(t, "mid-p", law.twoSidedMid(c.net()), want.Midp)
	v.near(t, "one-sided", law.tail(-c.net()), want.One)
	v.near(t, "one-sided mid-p", law.worseMid(c.net()), want.OneMidp)
}

func checkPairReport(t *testing.T, v vector) {
	var in struct{ N11, Adverse, Favourable, N00 int }
	var want struct {
		D             float64
		Tango         [2]float64
		McNemar       mcNemarVector
		ERecord       float64 `json:"e_record"`
		RecordVerdict Kind    `json:"record_verdict"`
		Adjudicated   *struct {
			Adverse int
			Exact   float64 `json:"mcnemar_exact"`
		} `json:"after_adjudication"`
	}
	v.read(t, &in, &want)
	c := counts{in.N11, in.Adverse, in.Favourable, in.N00}
	s := DefaultPolicy().analyse(singles(c))
	v.near(t, "d", s.Delta.Delta, want.D)
	v.nearInterval(t, "Tango", s.Delta.Interval, want.Tango)
	v.nearMcNemar(t, c, want.McNemar)
	v.near(t, "the paired analysis, exact McNemar with one row per case,", s.Paired.P, want.McNemar.Exact)
	v.near(t, "its mid-p", s.Paired.MidP, want.McNemar.Midp)
	if want.RecordVerdict != "" {
		v.near(t, "e", s.Record.E, want.ERecord)
		if s.Record.Verdict != want.RecordVerdict {
			t.Errorf("record verdict %s, want %s", s.Record.Verdict, want.RecordVerdict)
		}
	}
	if a := want.Adjudicated; a != nil {
		v.near(t, "after adjudication", newLaw(map[int]int{1: a.Adverse}).twoSided(-a.Adverse), a.Exact)
	}
}

func checkWilson(t *testing.T, v vector) {
	var in struct{ Cases [][2]int }
	var want struct{ Limits [][2]float64 }
	v.read(t, &in, &want)
	for i, c := range in.Cases {
		got := wilson(c[0], c[1], 0.05)
		v.nearInterval(t, strconv.Itoa(c[0]), got, want.Limits[i])
		if c[0] == 0 && got.Lower != 0 || c[0] == c[1] && got.Upper != 1 {
			t.Errorf("%v: %v is not exact at the end", c, got)
		}
	}
}

func checkClusterReport(t *testing.T, v vector) {
	var in struct{ Instances, Favourable, Adverse []int }
	var want struct {
		D         float64
		G, N      int
		SE        float64    `json:"cr1_se"`
		T         float64    `json:"t_quantile"`
		CI        [2]float64 `json:"cr1t_ci"`
		Deff      float64
		DeffTango [2]float64 `json:"deff_tango_ci_t"`
		Signflip  signflipVector
		Naive     mcNemarVector `json:"naive_mcnemar"`
	}
	v.read(t, &in, &want)
	var all table
	for i, m := range in.Instances {
		all.addCase(counts{adverse: in.Adverse[i], favourable: in.Favourable[i], bothPass: m - in.Adverse[i] - in.Favourable[i]})
	}
	s := DefaultPolicy().analyse(all)
	if all.cases != want.G || all.pairs() != want.N {
		t.Errorf("%d cases, %d pairs, want %d, %d", all.cases, all.pairs(), want.G, want.N)
	}
	v.near(t, "d", s.Delta.Delta, want.D)
	v.near(t, "CR1 standard error", s.Cluster.SE, want.SE)
	v.near(t, "t quantile", tQuantile(0.975, want.G), want.T)
	v.nearInterval(t, "CR1", s.Cluster.Interval, want.CI)
	v.near(t, "deff", s.Deff, want.Deff)
	v.near(t, "record floor with its cluster guard", s.Record.E, recordE(float64(s.Baseline.Pass), float64(want.N), 1.96)*math.Sqrt(want.Deff))
	v.nearInterval(t, "Tango on effective counts", s.Delta.Interval, want.DeffTango)
	want.Signflip.check(t, v, all.changes, all.pairs(), 0.05)
	v.nearMcNemar(t, all.counts, want.Naive)
}

type signflipVector struct {
	S, K   int
	Two    float64 `json:"p_two"`
	Mid    float64 `json:"p_two_mid"`
	One    float64 `json:"p_one"`
	OneMid float64 `json:"p_one_mid"`
	Floor  float64
}

func (w signflipVector) check(t *testing.T, v vector, changes map[int]int, n int, alpha float64) {
	t.Helper()
	law := newLaw(changes)
	v.near(t, "p_two", law.twoSided(w.S), w.Two)
	v.near(t, "p_two_mid", law.twoSidedMid(w.S), w.Mid)
	v.near(t, "p_one", law.tail(-w.S), w.One)
	v.near(t, "p_one_mid", law.worseMid(w.S), w.OneMid)
	v.near(t, "floor", float64(law.floor(alpha))/float64(n), w.Floor)
	if k := (table{changes: changes}).changedCases(); k != w.K {
		t.Errorf("K = %d, want %d", k, w.K)
	}
}

func checkSignflip(t *testing.T, v vector) {
	var in struct {
		D     []int
		N     int
		Alpha float64
	}
	var want signflipVector
	v.read(t, &in, &want)
	changes := map[int]int{}
	for _, d := range in.D {
		if d != 0 {
			changes[max(d, -d)]++
		}
	}
	want.check(t, v, changes, in.N, in.Alpha)
}

func checkLabelRule(t *testing.T, v vector) {
	var in struct {
		Hyper [][4]int
		Label []struct{ AdvU, FavU, XbU, NU, AdvA, XbA int } `json:"label_cases"`
	}
	var want struct {
		Tails []float64
		Label []struct {
			DU, EU  float64
			PU      float64 `json:"p_U_one_midp"`
			PC      float64 `json:"p_concentration"`
			Share   float64 `json:"share_ambiguous"`
			Verdict Kind
		}
	}
	v.read(t, &in, &want)
	for i, h := range in.Hyper {
		v.near(t, "tail", hypergeometricTail(h[0], h[1], h[2], h[3]), want.Tails[i])
	}
	for i, c := range in.Label {
		l := labelTest(strata{
			clear:     singles(counts{bothPass: c.XbU - c.AdvU, adverse: c.AdvU, favourable: c.FavU, bothFail: c.NU - c.XbU - c.FavU}),
			ambiguous: singles(counts{bothPass: c.XbA - c.AdvA, adverse: c.AdvA, bothFail: 2}),
		}, 1.96)
		w := want.Label[i]
		v.near(t, "dU", *l.UnambiguousDelta, w.DU)
		v.near(t, "eU", *l.UnambiguousFloor, w.EU)
		v.near(t, "p_U", *l.UnambiguousMidP, w.PU)
		v.near(t, "p_concentration", *l.ConcentrationP, w.PC)
		v.near(t, "share", float64(l.WorsenedAmbiguous)/float64(l.Worsened), w.Share)
		if l.verdict() != w.Verdict {
			t.Errorf("label case %d: %s, want %s", i, l.verdict(), w.Verdict)
		}
	}
}

func checkPower(t *testing.T, v vector) {
	var in struct{ N, P, Alpha float64 }
	var want struct {
		Paired float64 `json:"mde80_paired_churn_0_05"`
		Record float64 `json:"mde80_record"`
		Flips  struct {
			Exact int `json:"exact_two_sided"`
			Mid   int `json:"midp_two_sided"`
		} `json:"min_one_way_flips"`
	}
	v.read(t, &in, &want)
	v.near(t, "paired MDE80", *pairedMDE80(0.05, in.P, in.N, 1, in.Alpha), want.Paired)
	v.near(t, "record MDE80", *recordMDE80(recordE(in.P*in.N, in.N, 1.96), in.P, in.N, 1), want.Record)
	if exact, mid := casesNeeded(in.Alpha); exact != want.Flips.Exact || mid != want.Flips.Mid {
		t.Errorf("cases needed %d, mid-p %d, want %+v", exact, mid, want.Flips)
	}
}

func checkExclusionBounds(t *testing.T, v vector) {
	var in struct {
		N11, Adverse, Favourable, N00 int
		CandPass                      int `json:"cand_excl_base_pass"`
		CandFail                      int `json:"cand_excl_base_fail"`
		BasePass                      int `json:"base_excl_cand_pass"`
		BaseFail                      int `json:"base_excl_cand_fail"`
		Both                          int `json:"both_excl"`
	}
	var want struct {
		Pairs       int     `json:"n"`
		All         int     `json:"N"`
		Complete    float64 `json:"d_complete"`
		WorstD      float64 `json:"d_worst"`
		BestD       float64 `json:"d_best"`
		Worst, Best [2]int
		Asymmetry   float64 `json:"exclusion_asymmetry_p_one_sided"`
	}
	v.read(t, &in, &want)
	var pairs [][2]string
	for _, g := range []struct {
		n    int
		pair [2]string
	}{
		{in.N11, [2]string{"safe", "safe"}}, {in.Adverse, [2]string{"safe", "unsafe"}},
		{in.Favourable, [2]string{"unsafe", "safe"}}, {in.N00, [2]string{"unsafe", "unsafe"}},
		{in.CandPass, [2]string{"safe", "error"}}, {in.CandFail, [2]string{"unsafe", "error"}},
		{in.BasePass, [2]string{"not run", "safe"}}, {in.BaseFail, [2]string{"not run", "unsafe"}},
		{in.Both, [2]string{"gap", "gap"}},
	} {
		for range g.n {
			pairs = append(pairs, g.pair)
		}
	}
	d := decide(t, onePerCase(pairs...), DefaultPolicy())
	if d.Pairs.Total != want.Pairs || d.Rows != want.All {
		t.Errorf("%d pairs of %d rows, want %d of %d", d.Pairs.Total, d.Rows, want.Pairs, want.All)
	}
	v.near(t, "d on the pairs", d.Statistics.Delta.Delta, want.Complete)
	v.near(t, "worst d", *d.Bounds.Worst.Delta, want.WorstD)
	v.near(t, "best d", *d.Bounds.Best.Delta, want.BestD)
	v.near(t, "asymmetry", *d.Excluded.LopsidedP, want.Asymmetry)
	if got := [2]int{d.Bounds.Worst.Adverse, d.Bounds.Worst.Favourable}; got != want.Worst {
		t.Errorf("worst %v, want %v", got, want.Worst)
	}
	if got := [2]int{d.Bounds.Best.Adverse, d.Bounds.Best.Favourable}; got != want.Best {
		t.Errorf("best %v, want %v", got, want.Best)
	}
}
