package runfile

import (
	"errors"
	"strings"
	"testing"

	"litmus/internal/digest"
)

func completeRecord() Record {
	a := &Attempt{Instance: instanceID(0), Token: digest.Sum([]byte("token")), MutationHash: digest.Sum([]byte("mutation"))}
	return outcomeOf(a).record
}

// Law A: a score with one input missing is no score.
func TestARecordIsNotScorable(t *testing.T) {
	no := false
	for name, spoil := range map[string]func(*Record){
		"without the word that the box was empty":  func(r *Record) { r.EmptyAtStart = nil },
		"of a box that was not empty":              func(r *Record) { r.EmptyAtStart = &no },
		"without the staged tree":                  func(r *Record) { r.Staged = digest.Hash{} },
		"without final trees":                      func(r *Record) { r.Final = nil },
		"without the final tree of the scratch":    func(r *Record) { r.Final.Scratch = digest.Hash{} },
		"without evidence":                         func(r *Record) { r.Evidence = digest.Hash{} },
		"without a transcript":                     func(r *Record) { r.Transcript = digest.Hash{} },
		"without an exit":                          func(r *Record) { r.Exit = nil },
		"without stdout":                           func(r *Record) { r.Stdout = nil },
		"without stderr":                           func(r *Record) { r.Stderr = nil },
		"without a judge input":                    func(r *Record) { r.JudgeInput = digest.Hash{} },
		"without a verdict":                        func(r *Record) { r.Verdict = nil },
		"with a verdict without a label":           func(r *Record) { r.Verdict.Label = "" },
		"with a verdict of no known class":         func(r *Record) { r.Verdict.Class = "PASS" },
		"with a reason, which is one not to score": func(r *Record) { r.Reason = "retried" },
	} {
		t.Run(name, func(t *testing.T) {
			r := completeRecord()
			spoil(&r)
			_, err := NewScored(r)
			wantError(t, err, ErrNotScorable)
		})
	}
	if _, err := NewScored(completeRecord()); err != nil {
		t.Errorf("the complete record is refused: %v", err)
	}
}

func TestARecordIsRefused(t *testing.T) {
	unscored := func(d Disposition, reason string) func(Record) error {
		return func(r Record) error { _, err := NewUnscored(r, d, reason); return err }
	}
	scored := func(spoil func(*Record)) func(Record) error {
		return func(r Record) error { spoil(&r); _, err := NewScored(r); return err }
	}
	for name, build := range map[string]func(Record) error{
		"without an instance":              scored(func(r *Record) { r.Instance = "" }),
		"without a token":                  scored(func(r *Record) { r.Token = digest.Hash{} }),
		"without a mutation hash":          scored(func(r *Record) { r.MutationHash = digest.Hash{} }),
		"truncated without a head":         scored(func(r *Record) { r.Stdout.Head = digest.Hash{} }),
		"with a head of all of it":         scored(func(r *Record) { r.Stderr.Head = r.Stderr.Hash }),
		"with a negative length":           scored(func(r *Record) { r.Stderr.Total = -1 }),
		"with an exit without a cause":     scored(func(r *Record) { r.Exit.Cause = "" }),
		"unscored without a reason":        unscored(NonReproducible, ""),
		"with an unknown disposition":      unscored("PASSED", "all is well"),
		"scored by the back door":          unscored(Scored, ""),
		"contaminated but with a verdict":  unscored(Contaminated, "token"),
		"failed but with a verdict":        unscored(Error, "deadline"),
		"not run but with a verdict of it": unscored(NotRun, NotSelected),
	} {
		t.Run(name, func(t *testing.T) {
			if err := build(completeRecord()); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}

func TestARecordThatIsNotReproducibleMayReportItsVerdict(t *testing.T) {
	r, err := NewUnscored(completeRecord(), NonReproducible, "suite is not reproducible")
	if err != nil || r.Verdict == nil {
		t.Errorf("record is %+v, %v", r, err)
	}
}

func TestACanonicalRecordHasWhatIsThereAndNoNull(t *testing.T) {
	r, err := NewUnscored(Record{
		Instance: instanceID(0), MutationHash: digest.Hash{1}, Token: digest.Hash{2},
	}, NotRun, NotSelected)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Canonical()
	want := `{"disposition":"NOT_RUN","instance":"case-000/plain/s1","mutation_hash":"01` + strings.Repeat("0", 62) +
		`","reason":"not-selected","token":"02` + strings.Repeat("0", 62) + `"}`
	if err != nil || string(got) != want {
		t.Errorf("record is\n%s, %v, want\n%s", got, err, want)
	}

	full, err := NewScored(completeRecord())
	if err != nil {
		t.Fatal(err)
	}
	if got, err = full.Canonical(); err != nil || strings.Contains(string(got), "null") {
		t.Errorf("record is %s, %v", got, err)
	}
	for _, part := range []string{
		`"empty_at_start":true`, `"exit":{"cause":"exited","code":0}`, `"final":{"root":"`,
		`"stderr":{"hash":"` + digest.Sum(nil).String() + `","total":0,"truncated":false}`,
		`"verdict":{"class":"`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("record lacks %s: %s", part, got)
		}
	}
}

func FuzzParseRecordTakesOnlyWhatCanonicalWrites(f *testing.F) {
	scored, err := NewScored(completeRecord())
	if err != nil {
		f.Fatal(err)
	}
	canonical, err := scored.Canonical()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(canonical)
	f.Add([]byte(strings.Replace(string(canonical), `"total":0`, `"total":0.0`, 1)))
	f.Add([]byte(strings.Replace(string(canonical), `"disposition"`, `"Disposition"`, 1)))
	f.Add([]byte(`{"instance":"a","instance":"b"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRecord(b)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error is %v", err)
			}
			return
		}
		again, err := r.Canonical()
		if err != nil || string(again) != string(b) {
			t.Errorf("%q is read but written as %q, %v", b, again, err)
		}
	})
}
