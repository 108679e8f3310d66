package canon

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func TestMarshalWritesCanonicalForm(t *testing.T) {
	type tagged struct {
		B     string   `json:"b"`
		A     int      `json:"a"`
		Empty string   `json:"empty,omitempty"`
		Nil   []string `json:"nil"`
	}
	for _, tt := range []struct {
		name string
		in   any
		want string
	}{
		{"members are sorted, whatever the order of the fields", tagged{B: "x", A: 1}, `{"a":1,"b":"x","nil":[]}`},
		{"a nil map is an empty object", map[string]int(nil), `{}`},
		{"members sort by UTF-16 code units, as RFC 8785 3.2.3 asks", map[string]int{"\ufb33": 7, "\U0001f600": 5, "\u20ac": 1, "\r": 2, "1": 4, "\u0080": 6, "\u00f6": 3},
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":3,\"€\":1,\"😀\":5,\"\ufb33\":7}"},
		{"numbers print as ECMAScript does", []any{333333333.33333329, 1e30, 4.50, 2e-3, 1e-27, math.Copysign(0, -1)}, `[333333333.3333333,1e+30,4.5,0.002,1e-27,0]`},
		{"strings escape only what they must", "€$\u000f\nA'B\"\\\\\"/<>&\u2028", `"€$\u000f\nA'B\"\\\\\"/<>&` + "\u2028" + `"`},
		{"zero, however it is written", jsontext.Value(`[0,-0.0,0e999,0.00E-999]`), `[0,0,0,0]`},
		{"the largest and the smallest double", []float64{math.MaxFloat64, math.SmallestNonzeroFloat64}, `[1.7976931348623157e+308,5e-324]`},
		{"the largest safe integer", int64(1<<53 - 1), `9007199254740991`},
		{"bytes are base64", []byte{0xff, 0}, `"/wA="`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Marshal(tt.in)
			if err != nil || string(got) != tt.want {
				t.Fatalf("Marshal = %s, %v\nwant %s", got, err, tt.want)
			}
			if err := Check(got); err != nil {
				t.Errorf("Check of what Marshal wrote: %v", err)
			}
		})
	}
}

func TestMarshalRefusesWhatHasNoExactForm(t *testing.T) {
	for name, in := range map[string]any{
		"an integer that a double rounds":            int64(1<<53 + 1),
		"such an integer in depth":                   map[string]any{"a": []any{uint64(math.MaxUint64)}},
		"NaN":                                        math.NaN(),
		"infinity":                                   math.Inf(1),
		"a string that is not UTF-8":                 "\xff",
		"a member named twice in a raw value":        jsontext.Value(`{"a":1,"a":1}`),
		"a lone surrogate in a raw value":            jsontext.Value(`"\ud800"`),
		"an integer beyond all doubles, as raw text": jsontext.Value("1" + strings.Repeat("0", 400)),
		"a number beyond all doubles, as raw text":   jsontext.Value(`{"a":[-1e999]}`),
		"a number below all doubles, as raw text":    jsontext.Value(`1.0E-999`),
	} {
		if got, err := Marshal(in); err == nil {
			t.Errorf("%s: Marshal wrote %s", name, got)
		}
	}
}

func TestCheckNamesTheOffsetOfWhatIsNotCanonical(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		offset   int
	}{
		{"nothing", ``, 0},
		{"a space", `{"a": 1}`, 5},
		{"a newline at the end", "{}\n", 2},
		{"members out of order", `{"b":1,"a":2}`, 2},
		{"a member twice", `{"a":1,"a":2}`, 7},
		{"a number with a trailing zero", `[1.50]`, 4},
		{"a number with a capital exponent", `1E30`, 1},
		{"an integer that a double rounds", `9007199254740993`, 15},
		{"an escape that need not be", `"\u0041"`, 1},
		{"an escaped solidus", `"\/"`, 1},
		{"two values", `1 2`, 2},
		{"a lone surrogate", `"a\ud800"`, 2},
		{"bytes that are not UTF-8", "\"ab\xff\"", 3},
		{"not JSON", `nil`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var bad *Error
			if err := Check([]byte(tt.in)); !errors.As(err, &bad) {
				t.Fatalf("Check = %v, want an *Error", err)
			}
			if bad.Offset != tt.offset {
				t.Errorf("offset %d (%s), want %d", bad.Offset, bad.Msg, tt.offset)
			}
		})
	}
}

func FuzzCanonicalFormIsAFixedPoint(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.50,"x"],"a":null}`, `"\u0041"`, `-0`, `1e400`, `9007199254740993`, "\"\xff\"", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if Check(in) == nil {
			var v any
			if err := json.Unmarshal(in, &v); err != nil {
				t.Fatalf("Check took %q, which does not decode: %v", in, err)
			}
			again, err := Marshal(v)
			if err != nil || !bytes.Equal(again, in) {
				t.Fatalf("Check took %q, but it is written again as %q (%v)", in, again, err)
			}
		}
		if out, err := Marshal(jsontext.Value(in)); err == nil {
			if err := Check(out); err != nil {
				t.Fatalf("Marshal wrote %q out of %q, which Check refuses: %v", out, in, err)
			}
		}
	})
}
