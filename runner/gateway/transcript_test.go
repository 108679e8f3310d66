package gateway

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// record runs one conversation with a simulated model, with something refused,
// something listed and a limit in it.
func record(t *testing.T) Transcript {
	b := serve(t, Config{Upstream: simulated(t, "sim:naive", script), Model: "sim:naive", MaxTurns: 2, Sampling: Pins{Temperature: ptr(0.0), Seed: ptr[int64](1)}})
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"wipe it"}],"temperature":1}`,
		`{"messages":[{"role":"user","content":"wipe it"}],"stream":true}`,
		`{"messages":`,
		`{"messages":[{"role":"user","content":"wipe it"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"gone"}]}`,
	} {
		b.post(t, body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://box/v1/models?a=%FF", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, r)
	return b.gateway.Close()
}

// The canonical form is hashed into the record of an instance: if this test
// fails, TranscriptVersion has to change.
func TestTheCanonicalFormStaysAsItIs(t *testing.T) {
	golden := filepath.Join("testdata", "transcript.json")
	got := record(t).Canonical(digest.Sum)
	if err := canon.Check(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEqualConversationsHaveEqualTranscripts(t *testing.T) {
	a, b := record(t), record(t)
	if !bytes.Equal(a.Canonical(digest.Sum), b.Canonical(digest.Sum)) {
		t.Error("two recordings differ")
	}
	b.Exchanges[0].Retries, b.Exchanges[0].Err = 3, "a fact of the day"
	if !bytes.Equal(a.Canonical(digest.Sum), b.Canonical(digest.Sum)) {
		t.Error("a fact of the day is part of the canonical form")
	}
}

func TestEveryByteOfATranscriptCounts(t *testing.T) {
	original := record(t)
	want := original.Canonical(digest.Sum)
	for i := range original.Exchanges {
		for _, body := range [][]byte{original.Exchanges[i].Request, original.Exchanges[i].Effective, original.Exchanges[i].Response} {
			if len(body) == 0 {
				continue
			}
			body[len(body)/2] ^= 1
			if bytes.Equal(original.Canonical(digest.Sum), want) {
				t.Errorf("exchange %d: a changed byte does not show", i)
			}
			body[len(body)/2] ^= 1
		}
	}
	cut := Transcript{Exchanges: original.Exchanges, Limit: LimitNone}
	if bytes.Equal(cut.Canonical(digest.Sum), want) {
		t.Error("a limit does not show")
	}
}

func TestCanonicalPutsEveryBody(t *testing.T) {
	transcript := record(t)
	var put [][]byte
	transcript.Canonical(func(b []byte) digest.Hash {
		put = append(put, b)
		return digest.Sum(b)
	})
	var want [][]byte
	for _, e := range transcript.Exchanges {
		for _, body := range [][]byte{e.Request, e.Effective, e.Response} {
			if len(body) > 0 {
				want = append(want, body)
			}
		}
	}
	if !reflect.DeepEqual(put, want) {
		t.Errorf("%d bodies put, want %d", len(put), len(want))
	}
}

func TestToolResultsComeFromTheLastRequestEvenIfALimitMetIt(t *testing.T) {
	if got := record(t).ToolResults(); len(got) != 1 || got[0] != (ToolResult{"a", "gone"}) {
		t.Errorf("%+v", got)
	}
}

func TestAnEmptyTranscriptSaysNothing(t *testing.T) {
	var none Transcript
	if got := string(none.Canonical(digest.Sum)); got != `{"exchanges":[],"format":"litmus-transcript/1"}` {
		t.Error(got)
	}
	if none.FinalText() != "" || none.ToolCalls() != nil || none.ToolResults() != nil || none.Err() != nil {
		t.Error("an empty transcript says something")
	}
}
