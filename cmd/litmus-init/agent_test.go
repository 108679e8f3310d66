package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"litmus/internal/wire"
)

// fakeModel is an HTTP server that gives scripted answers, in the form that is
// asked for, and keeps what it was asked.
type fakeModel struct {
	answers []message
	status  int // of the answers; 0 is 200
	asked   []string
}

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer dummy" {
		http.Error(w, fmt.Sprintf("unexpected request %s (%v)", r.URL.Path, err), http.StatusTeapot)
		return
	}
	f.asked = append(f.asked, string(body))
	if f.status != 0 {
		http.Error(w, `{"error":{"message":"slow down"}}`, f.status)
		return
	}
	answer := f.answers[0]
	f.answers = f.answers[1:]
	if !strings.Contains(string(body), `"stream":true`) {
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": answer}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	delta := map[string]any{"content": answer.Content}
	var calls []any
	for i, call := range answer.ToolCalls {
		calls = append(calls, map[string]any{"index": i, "id": call.ID, "function": call.Function})
	}
	delta["tool_calls"] = calls
	text, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": delta}}})
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", text)
}

func asks(id, tool, arguments string) toolCall {
	return toolCall{ID: id, Type: "function", Function: functionCall{Name: tool, Arguments: arguments}}
}

func TestTheAgentDoesWhatItIsAskedUntilItIsAskedForNothing(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) {
			f := &fakeModel{answers: []message{
				{Content: "First.", ToolCalls: []toolCall{
					asks("c1", "bash", `{"command":"printf '<\\377>'"}`), asks("c2", "sudo", `{}`),
				}},
				{Content: "Done & dusted."},
			}}
			server := httptest.NewServer(f)
			defer server.Close()
			text, err := (&task{
				System: "Be good.", Model: "m", Messages: []message{{Role: "user", Content: "Do <it>."}},
			}).run(newModel(server.URL+"/v1/", "dummy", stream))
			if text != "Done & dusted." || err != nil {
				t.Errorf("run: %q, %v", text, err)
			}
			tools, err := encode(toolList)
			check(t, err)
			asked := fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"Be good."},{"role":"user","content":"Do <it>."}%s],"tools":%s%s}`,
				"%s", bytes.ReplaceAll(tools, []byte("%"), []byte("%%")), map[bool]string{true: `,"stream":true`}[stream])
			want := []string{fmt.Sprintf(asked, ""), fmt.Sprintf(asked, `,{"role":"assistant","content":"First.","tool_calls":[`+
				`{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"printf '<\\\\377>'\"}"}},`+
				`{"id":"c2","type":"function","function":{"name":"sudo","arguments":"{}"}}]},`+
				`{"role":"tool","content":"exit code: 0\n<\\xff>","tool_call_id":"c1"},`+
				`{"role":"tool","content":"error: there is no tool sudo","tool_call_id":"c2"}`)}
			if strings.Join(f.asked, "\n") != strings.Join(want, "\n") {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(f.asked, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestATaskEndsAtItsTurnLimit(t *testing.T) {
	f := &fakeModel{answers: []message{
		{Content: "a", ToolCalls: []toolCall{asks("1", "bash", `{"command":"true"}`)}},
		{Content: "b", ToolCalls: []toolCall{asks("2", "bash", `{"command":"true"}`)}},
	}}
	server := httptest.NewServer(f)
	defer server.Close()
	text, err := (&task{Model: "m", MaxTurns: 2, Messages: []message{{Role: "user"}}}).run(newModel(server.URL+"/v1", "dummy", false))
	if text != "b" || !errors.Is(err, errTurnLimit) {
		t.Errorf("run: %q, %v", text, err)
	}
}

func TestAnErrorOfTheModelIsSaid(t *testing.T) {
	f := &fakeModel{status: http.StatusTooManyRequests}
	server := httptest.NewServer(f)
	defer server.Close()
	_, err := (&task{Model: "m", Messages: []message{{Role: "user"}}}).run(newModel(server.URL+"/v1", "dummy", false))
	if want := `model: 429 Too Many Requests: {"error":{"message":"slow down"}}`; err == nil || err.Error() != want {
		t.Errorf("run: %v, want %s", err, want)
	}
	if len(f.asked) != 1 {
		t.Errorf("asked %d times, want once: retries are the gateway's", len(f.asked))
	}
}

func TestATaskIsReadStrictly(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a good one":    {`{"messages":[{"role":"user","content":"x"}],"max_turns":3}` + "\n", ""},
		"no messages":   {`{"messages":[]}`, "there are no messages"},
		"unknown field": {`{"messages":[{"role":"user","content":"x"}],"turns":3}`, "unknown field"},
		"nothing":       {``, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readTask(strings.NewReader(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("readTask: %v, want %q", err, c.want)
			}
		})
	}
}

// runInBox runs the reference agent in a box against f.
func runInBox(t *testing.T, f *fakeModel, input string) outcome {
	t.Helper()
	b := startBox(t)
	server := &http.Server{Handler: f}
	go func() { _ = server.Serve(b.gateway) }()
	defer server.Close()
	b.begin(wire.Setup{Agent: wire.Command{
		Args: []string{wire.InitPath}, Dir: "/scratch", Stdin: []byte(input),
		Env: []string{
			roleVariable + "=agent", "PATH=/usr/bin:/bin",
			"OPENAI_BASE_URL=http://" + wire.GatewayAddress + "/v1", "OPENAI_API_KEY=dummy",
		},
	}})
	return b.finish()
}

func TestInABoxTheAgentsTranscriptIsTheSameEachTime(t *testing.T) {
	var first []string
	for range 5 {
		f := &fakeModel{answers: []message{
			{ToolCalls: []toolCall{
				asks("1", "bash", `{"command":"echo $$ $PPID; pwd; busybox ps -o pid,args"}`),
				asks("2", "bash", `{"command":"sleep 600 & echo $!"}`),
			}},
			{ToolCalls: []toolCall{asks("3", "bash", `{"command":"echo $$; kill 1; kill -0 1 && echo alive"}`)}},
			{Content: "Done."},
		}}
		got := runInBox(t, f, `{"messages":[{"role":"user","content":"go"}],"model":"m"}`)
		if got.stdout != "Done.\n" || got.exited != (wire.Exited{}) {
			t.Fatalf("printed %q, exited %+v\n%s", got.stdout, got.exited, got.stderr)
		}
		if first == nil {
			first = f.asked
		}
		if a, b := strings.Join(first, "\n"), strings.Join(f.asked, "\n"); a != b {
			t.Fatalf("one time\n%s\nanother\n%s", a, b)
		}
	}
	if last := first[len(first)-1]; !strings.Contains(last, fmt.Sprintf(`exit code: 0\n%d %d\n/scratch\n`, agentFloor+2, wire.AgentPID)) {
		t.Errorf("the first command is not process %d: %s", agentFloor+2, last)
	}
}

func TestTheAgentsExitCodesSayWhatWentWrong(t *testing.T) {
	for name, c := range map[string]struct {
		model  fakeModel
		input  string
		code   int
		stderr string
	}{
		"the model": {fakeModel{status: 400}, `{"messages":[{"role":"user","content":"go"}]}`, exitModel, "litmus-init agent: model: 400 Bad Request"},
		"the task":  {fakeModel{}, `{`, exitBadTask, "litmus-init agent: reading the task: unexpected EOF"},
		"the turns": {fakeModel{answers: []message{{ToolCalls: []toolCall{asks("1", "bash", `{}`)}}}},
			`{"messages":[{"role":"user","content":"go"}],"max_turns":1}`, exitTurnLimit, "litmus-init agent: the turn limit is reached"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runInBox(t, &c.model, c.input)
			if got.exited.Code != c.code || !strings.HasPrefix(got.stderr, c.stderr) {
				t.Errorf("exited %+v, said %q, want %d and %q", got.exited, got.stderr, c.code, c.stderr)
			}
		})
	}
}
