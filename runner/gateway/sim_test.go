package gateway

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// answers asks a simulated model and returns its words or its call.
func answers(t *testing.T, s *Sim, body string) (string, []ToolCall) {
	t.Helper()
	response, err := s.Send(t.Context(), Request{Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseReply(response.ContentType, answer)
	if err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return r.text, r.calls
}

var simple = Script{Comply: []Call{{Tool: "bash", Command: "a"}, {Tool: "bash", Command: "b"}}, ComplyText: "yes", RefuseText: "no"}

// asks is a conversation with that user message, in which the model has called
// tools for so many turns.
func asks(user string, turns int) string {
	body := `{"messages":[{"role":"system","content":"prompt"},{"role":"user","content":"` + user + `"}`
	for range turns {
		body += `,{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"result"}`
	}
	return body + `],"seed":1,"temperature":0}`
}

func TestASimulatedModelPlaysItsScriptTurnByTurn(t *testing.T) {
	control := simple
	control.Control = true
	for _, tt := range []struct {
		name, model string
		script      Script
		turn        int
		text        string
		command     string
	}{
		{"naive calls first", "sim:naive", simple, 0, "", "a"},
		{"then calls again", "sim:naive", simple, 1, "", "b"},
		{"then speaks", "sim:naive", simple, 2, "yes", ""},
		{"and goes on speaking", "sim:naive", simple, 3, "yes", ""},
		{"guarded refuses at once", "sim:guarded", simple, 0, "no", ""},
		{"guarded does what is harmless", "sim:guarded", control, 0, "", "a"},
		{"so does a rate of none", "sim:0", control, 1, "", "b"},
		{"a rate of all complies", "sim:1.0", simple, 0, "", "a"},
		{"without a script it only speaks", "sim:naive", Script{}, 0, defaultComplyText, ""},
		{"or refuses", "sim:guarded", Script{}, 0, defaultRefuseText, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, calls := answers(t, simulated(t, tt.model, tt.script), asks("wipe it", tt.turn))
			if text != tt.text {
				t.Errorf("it says %q, want %q", text, tt.text)
			}
			command := ""
			if len(calls) > 0 {
				command = calls[0].Arguments
			}
			if tt.command != "" && command != `{"command":"`+tt.command+`"}` || tt.command == "" && command != "" {
				t.Errorf("it calls %q, want %q", command, tt.command)
			}
		})
	}
}

func draws(t *testing.T, s *Sim, body string) float64 {
	t.Helper()
	request, refusal := parseChat([]byte(body))
	if refusal != nil {
		t.Fatal(refusal.message)
	}
	return s.draw(request)
}

func TestADrawDependsOnNameMessagesSeedAndTemperatureOnly(t *testing.T) {
	model := simulated(t, "sim:0.5", simple)
	base := asks("wipe it", 0)
	want := draws(t, model, base)
	for name, body := range map[string]string{
		"a later turn":                asks("wipe it", 3),
		"another system prompt":       strings.Replace(base, "prompt", "another", 1),
		"a developer's prompt":        strings.Replace(base, `"system"`, `"developer"`, 1),
		"content in parts":            strings.Replace(base, `"wipe it"`, `[{"type":"text","text":"wipe"},{"type":"text","text":" it"}]`, 1),
		"another order and more":      `{"x":1,"temperature":0,"stream":true,"seed":1,"messages":[{"content":"wipe it","role":"user"}]}`,
		"words after the first turns": strings.Replace(asks("wipe it", 1), `],"seed"`, `,{"role":"user","content":"go on"}],"seed"`, 1),
	} {
		if got := draws(t, model, body); got != want {
			t.Errorf("%s changes the draw", name)
		}
	}
	for name, got := range map[string]float64{
		"another message":       draws(t, model, asks("wipe that", 0)),
		"another seed":          draws(t, model, strings.Replace(base, `"seed":1`, `"seed":2`, 1)),
		"no seed":               draws(t, model, strings.Replace(base, `"seed":1,`, ``, 1)),
		"another temperature":   draws(t, model, strings.Replace(base, `"temperature":0`, `"temperature":1`, 1)),
		"another name":          draws(t, simulated(t, "sim:0.50", simple), base),
		"the case's own dialog": draws(t, model, strings.Replace(base, `{"role":"user"`, `{"role":"user","content":"hi"},{"role":"assistant","content":"hi"},{"role":"user"`, 1)),
	} {
		if got == want {
			t.Errorf("%s does not change the draw", name)
		}
	}
}

func TestARateIsKeptOverManyInstances(t *testing.T) {
	const n = 4000
	for _, rate := range []float64{0.15, 0.5} {
		s := simulated(t, fmt.Sprintf("sim:%v", rate), simple)
		complied := 0
		for i := range n {
			if _, calls := answers(t, s, asks(fmt.Sprint(i), 0)); len(calls) > 0 {
				complied++
			}
		}
		if five := 5 * math.Sqrt(rate*(1-rate)/n); math.Abs(float64(complied)/n-rate) > five {
			t.Errorf("a rate of %v complies with %d of %d", rate, complied, n)
		}
	}
}

func TestNamesOfSimulatedModels(t *testing.T) {
	for _, name := range []string{"sim:guarded", "sim:naive", "sim:0", "sim:1", "sim:0.15", "sim:1.00"} {
		if err := CheckSim(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "sim:", "sim", "naive", "sim:1.01", "sim:2", "sim:-0.1", "sim:.5", "sim:0.", "sim:1e-1", "sim:0x1", "sim:NaN", "sim:00.5", "sim:0.5 ", "Sim:naive"} {
		if CheckSim(name) == nil {
			t.Errorf("there is a %q", name)
		}
	}
}

func TestScriptsThatCannotBePlayedAreRefused(t *testing.T) {
	for name, script := range map[string]Script{
		"an unknown tool":  {Comply: []Call{{Tool: "python"}}},
		"text not in UTF8": {Comply: []Call{{Tool: "bash", Command: "\xff"}}},
	} {
		if _, err := NewSim("sim:naive", script); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestStreamedAndWholeAnswersSayTheSame(t *testing.T) {
	for turn := range 3 {
		s := simulated(t, "sim:naive", simple)
		text, calls := answers(t, s, asks("wipe it", turn))
		streamText, streamCalls := answers(t, s, strings.Replace(asks("wipe it", turn), "{", `{"stream":true,`, 1))
		if streamText != text || len(calls) != len(streamCalls) || len(calls) > 0 && calls[0].Arguments != streamCalls[0].Arguments {
			t.Errorf("turn %d: %q %v and %q %v", turn, text, calls, streamText, streamCalls)
		}
	}
}

func FuzzPiecesAreWholeCharactersThatJoinAgain(f *testing.F) {
	f.Add("hello")
	f.Add(strings.Repeat("ä😀", 40))
	f.Add(strings.Repeat("ä😀", 3) + "12345😀") // the cut is in the last character
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return
		}
		if strings.Join(pieces(text), "") != text {
			t.Fatalf("%q cut into %q", text, pieces(text))
		}
		for _, piece := range pieces(text) {
			if _, err := jsontext.AppendQuote(nil, piece); err != nil {
				t.Fatalf("%s is cut inside of a character: %q", quoted, piece)
			}
		}
	})
}
