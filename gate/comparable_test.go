package gate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"litmus/internal/inputerror"
)

func decideInstruments(baseline, candidate string) (Decision, error) {
	in := flips(209, 11, 0, 20).input(DefaultPolicy())
	in.Baseline.Instrument, in.Candidate.Instrument = []byte(baseline), []byte(candidate)
	return Decide(in)
}

func TestEveryDifferingFieldOfTheInstrumentIsNamedWithBothValues(t *testing.T) {
	for _, tt := range []struct {
		name, baseline, candidate string
		want                      []string
	}{
		{"a leaf", `{"a":1}`, `{"a":2}`, []string{"a: baseline 1, candidate 2"}},
		{"a leaf in depth", `{"s":{"t":0,"u":{"v":"x"}}}`, `{"s":{"t":0.2,"u":{"v":"y"}}}`,
			[]string{"s.t: baseline 0, candidate 0.2", `s.u.v: baseline "x", candidate "y"`}},
		{"missing is not empty", `{"a":1,"b":""}`, `{"a":1}`, []string{`b: baseline "", candidate (missing)`}},
		{"missing is not null", `{"a":1}`, `{"a":1,"b":null}`, []string{`b: baseline (missing), candidate null`}},
		{"null is not empty", `{"b":null}`, `{"b":""}`, []string{`b: baseline null, candidate ""`}},
		{"a missing object is named by its leaves", `{"a":1,"l":{"m":1,"n":{}}}`, `{"a":1}`,
			[]string{"l.m: baseline 1, candidate (missing)", "l.n: baseline {}, candidate (missing)"}},
		{"an empty object against a filled one", `{"l":{}}`, `{"l":{"m":1}}`, []string{"l.m: baseline (missing), candidate 1"}},
		{"an object against a list", `{"l":{}}`, `{"l":[]}`, []string{"l: baseline {}, candidate []"}},
		{"a number against its text", `{"a":1}`, `{"a":"1"}`, []string{`a: baseline 1, candidate "1"`}},
		{"entries of a list", `{"c":[{"n":"p"},{"n":"q"}]}`, `{"c":[{"n":"p"},{"n":"r"},3]}`,
			[]string{`c[1].n: baseline "q", candidate "r"`, "c[2]: baseline (missing), candidate 3"}},
		{"names that are no plain words", `{"b":{"a.b":1,"":2,"50256":3}}`, `{"b":{"a.b":2,"":3,"50256":4}}`,
			[]string{`b[""]: baseline 2, candidate 3`, `b.50256: baseline 3, candidate 4`, `b["a.b"]: baseline 1, candidate 2`}},
		{"a value that forges a line", `{"a":"x"}`, `{"a":"x\u0085NO_SIGNAL"}`, []string{`a: baseline "x", candidate "\"x\u0085NO_SIGNAL\""`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := decideInstruments(tt.baseline, tt.candidate)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(d.Text()) {
				if rest, ok := strings.CutPrefix(line, "differs: "); ok {
					got = append(got, strings.TrimSuffix(rest, "\n"))
				}
			}
			if d.Kind != Incomparable || !slices.Equal(got, tt.want) {
				t.Errorf("%s:\n%q, want\n%q", d.Kind, got, tt.want)
			}
			if d.Statistics != nil || d.Rows != 0 || len(d.Queues.Incident) != 0 {
				t.Error("something was computed across instruments")
			}
			reversed, err := decideInstruments(tt.candidate, tt.baseline)
			if err != nil || len(reversed.Differences) != len(d.Differences) {
				t.Errorf("the other way round there are %d differences, %v", len(reversed.Differences), err)
			}
		})
	}
}

func TestEqualInstrumentsAreComparedHoweverTheyAreWritten(t *testing.T) {
	d, err := decideInstruments(`{"a":1,"b":[1.0, 2e0]}`, "{ \"b\":[1,2],\n\"a\":1 }")
	if err != nil || d.Kind == Incomparable {
		t.Errorf("%s %v %v", d.Kind, d.Differences, err)
	}
}

func TestMissingFieldsAreLeftOutOfTheJSON(t *testing.T) {
	d, err := decideInstruments(`{"a":1,"b":null}`, `{"a":1}`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d.Differences)
	if want := `[{"field":"b","baseline":null}]`; err != nil || string(text) != want {
		t.Errorf("%s %v, want %s", text, err, want)
	}
}

func TestAnInstrumentThatSaysNothingIsRefused(t *testing.T) {
	for _, bad := range []string{``, `null`, `{}`, `[]`, `"x"`, `{"a":1,"a":1}`, `{"a":1}{"a":1}`, "{\"a\":\"\xff\"}"} {
		var input *inputerror.Error
		if _, err := decideInstruments(bad, bad); !errors.As(err, &input) {
			t.Errorf("%q: error %v, want an inputerror.Error", bad, err)
		}
		if _, err := decideInstruments(`{"a":1}`, bad); !errors.As(err, &input) {
			t.Errorf("%q as candidate: error %v, want an inputerror.Error", bad, err)
		}
	}
}

func TestManifestsWithDifferentRowsAreIncomparable(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*pairedRows)
		want   string
	}{
		{"another row in one place", func(p *pairedRows) { p.candidate[3].ID = "x" }, `instances[3].id: baseline "case-3/plain/s3", candidate "x"`},
		{"a row less", func(p *pairedRows) { p.candidate = p.candidate[:5] }, `instances[5].id: baseline "case-5/plain/s5", candidate (missing)`},
		{"a row more", func(p *pairedRows) { p.baseline = p.baseline[:0] }, `instances[0].id: baseline (missing), candidate "case-0/plain/s0"`},
		{"a row that is ambiguous on one side", func(p *pairedRows) { p.candidate[1].Ambiguous = true }, `instances["case-1/plain/s1"].ambiguous: baseline false, candidate true`},
		{"a row of another category", func(p *pairedRows) { p.candidate[1].Category = "" }, `instances["case-1/plain/s1"].category: baseline "destructive", candidate ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := flips(5, 1, 0, 0)
			tt.change(&rows)
			d := decide(t, rows, DefaultPolicy())
			if d.Kind != Incomparable || !strings.Contains(d.Text(), "differs: "+tt.want+"\n") {
				t.Errorf("want %s in\n%s", tt.want, d.Text())
			}
			if d.Rows != 0 || len(d.Queues.Incident) != 0 {
				t.Error("rows were compared all the same")
			}
		})
	}
}
