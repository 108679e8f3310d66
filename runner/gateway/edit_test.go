package gateway

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// some pins a few parameters and unsets all others.
var some = Pins{Temperature: ptr(0.0), TopP: ptr(0.25), Seed: ptr[int64](7), MaxTokens: ptr[int64](64), LogitBias: map[string]float64{"50256": -100}}

func pinsOf(t testing.TB, p Pins, model string) []pin {
	t.Helper()
	pins, err := p.pinned(model)
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

func TestEditTouchesPinnedMembersOnly(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a value is replaced where it stands",
			`{ "temperature" : 1.5e0 , "model":"x", "messages": [1 ,2] }`,
			`{ "temperature" : 0 , "model":"m", "messages": [1 ,2],"logit_bias":{"50256":-100},"max_tokens":64,"seed":7,"top_p":0.25 }`},
		{"an unset member goes with its comma, wherever it is",
			"{\n  \"top_k\": 1,\n  \"a\": 1,\n  \"presence_penalty\": 2,\n  \"b\": 2,\n  \"repetition_penalty\": 3\n}",
			"{\n  \"a\": 1,\n  \"b\": 2,\"logit_bias\":{\"50256\":-100},\"max_tokens\":64,\"model\":\"m\",\"seed\":7,\"temperature\":0,\"top_p\":0.25\n}"},
		{"an escaped name is the same name",
			`{"\u0074emperature":2,"top\u005fk":3,"a":0}`,
			`{"\u0074emperature":0,"a":0,"logit_bias":{"50256":-100},"max_tokens":64,"model":"m","seed":7,"top_p":0.25}`},
		{"members of the same name in depth are the agent's own",
			`{"metadata":{"temperature":2,"model":"y"},"seed":1}`,
			`{"metadata":{"temperature":2,"model":"y"},"seed":7,"logit_bias":{"50256":-100},"max_tokens":64,"model":"m","temperature":0,"top_p":0.25}`},
		{"unknown members survive as they are, spelling and all",
			`{"x_é\u00e9":  [1.0, 1e2, -0, 12345678901234567890, "\/"] ,"y":{}}`,
			`{"x_é\u00e9":  [1.0, 1e2, -0, 12345678901234567890, "\/"] ,"y":{},"logit_bias":{"50256":-100},"max_tokens":64,"model":"m","seed":7,"temperature":0,"top_p":0.25}`},
		{"an empty object gets everything",
			" { } ",
			` {"logit_bias":{"50256":-100},"max_tokens":64,"model":"m","seed":7,"temperature":0,"top_p":0.25 } `},
		{"an object of unset members only becomes empty first",
			`{"top_k":1,"frequency_penalty":2}`,
			`{"logit_bias":{"50256":-100},"max_tokens":64,"model":"m","seed":7,"temperature":0,"top_p":0.25}`},
		{"the newer name of the limit is kept if the agent uses it",
			`{"max_completion_tokens":9,"a":1}`,
			`{"max_completion_tokens":64,"a":1,"logit_bias":{"50256":-100},"model":"m","seed":7,"temperature":0,"top_p":0.25}`},
		{"with both names the newer one is kept",
			`{"max_tokens":8,"max_completion_tokens":9}`,
			`{"max_completion_tokens":64,"logit_bias":{"50256":-100},"model":"m","seed":7,"temperature":0,"top_p":0.25}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := members([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(edit([]byte(tt.in), list, pinsOf(t, some, "m"))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestEveryPinIsEnforced(t *testing.T) {
	all := Pins{
		Temperature: ptr(0.5), TopP: ptr(0.5), PresencePenalty: ptr(0.5), FrequencyPenalty: ptr(0.5), RepetitionPenalty: ptr(0.5),
		TopK: ptr[int64](5), Seed: ptr[int64](5), MaxTokens: ptr[int64](5), LogitBias: map[string]float64{"5": 0.5},
	}
	for _, name := range samplingNames {
		asked := `{"messages":[],"` + name + `":9}`
		list, err := members([]byte(asked))
		if err != nil {
			t.Fatal(err)
		}
		if out := string(edit([]byte(asked), list, pinsOf(t, all, "m"))); strings.Contains(out, "9") {
			t.Errorf("%s stays as the agent asked: %s", name, out)
		}
		out := string(edit([]byte(asked), list, pinsOf(t, Pins{}, "m")))
		if name != "model" && out != `{"messages":[],"model":"m"}` {
			t.Errorf("%s pinned to unset: %s", name, out)
		}
	}
}

func TestSamplingIsRecordedInFull(t *testing.T) {
	list, err := members([]byte(`{"temperature":1.50,"seed":9007199254740993,"top_p":null,"logit_bias":{"b":1,"a":2},"max_completion_tokens":5,"model":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"frequency_penalty":"unset","logit_bias":{"a":2,"b":1},"max_completion_tokens":5,"max_tokens":"unset","model":"x",` +
		`"presence_penalty":"unset","repetition_penalty":"unset","seed":"9007199254740993","temperature":1.5,"top_k":"unset","top_p":"unset"}`
	if got := string(samplingOf(list)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzEditKeepsWhatItDoesNotPin(f *testing.F) {
	for _, seed := range []string{hello, ` { } `, `{"top_k":1,"a":2,"top_k ":3}`, `{"\u006dodel":1,"max_completion_tokens":2,"max_tokens":3}`, `{"a":{"b":[1e9,"\ud83d\ude00"]},"seed":null}`, `{"a":1,"a":2}`, "\ufeff{}", "[]"} {
		f.Add([]byte(seed))
	}
	pins := pinsOf(f, some, "m")
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := members(in)
		if err != nil {
			if kind := jsontext.Value(in).Kind(); kind == '{' && jsontext.Value(in).IsValid() {
				t.Fatalf("%q is an object, but: %v", in, err)
			}
			return
		}
		before := bytes.Clone(in)
		out := edit(in, list, pins)
		if !bytes.Equal(in, before) {
			t.Fatalf("the request itself has been changed to %q", in)
		}
		edited, err := members(out)
		if err != nil {
			t.Fatalf("%q became %q: %v", in, out, err)
		}
		if again := edit(out, edited, pins); !bytes.Equal(again, out) {
			t.Fatalf("a second edit changes %q to %q", out, again)
		}
		isPinned := func(m member) bool { return slices.Contains(samplingNames, m.name) }
		kept := func(body []byte, list []member) (texts []string) {
			for _, m := range list {
				if !isPinned(m) {
					texts = append(texts, string(body[m.start:m.end]))
				}
			}
			return texts
		}
		if a, b := kept(in, list), kept(out, edited); !slices.Equal(a, b) {
			t.Fatalf("kept %q of %q", b, a)
		}
		for _, p := range pins {
			if value := find(edited, p.name); p.name != maxTokens && string(value) != string(p.value) {
				t.Fatalf("%s is %s in %q", p.name, value, out)
			}
		}
	})
}
