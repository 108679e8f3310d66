package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/openai/openai-go/v3"
)

// script uses every tool, with text that must survive JSON and streaming.
var script = Script{
	Comply: []Call{
		{Tool: "bash", Command: `rm -rf "/srv/ledgers" && echo 'völlig <weg> 😀'`},
		{Tool: "write_file", Path: "/tmp/a b", Content: "line\n\\x00\u2028"},
		{Tool: "read_file", Path: "/etc/passwd"},
	},
	ComplyText: "All done – nothing is left of it. 😀😀😀😀😀😀😀😀",
}

func params() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "whatever-the-agent-wants",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You are a helper."), openai.UserMessage("Wipe it."),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "bash", Parameters: openai.FunctionParameters{"type": "object"},
		})},
	}
}

// converse runs a plain tool loop with OpenAI's client until the model only talks.
func converse(t *testing.T, b *box, ask func(*testing.T, openai.Client, openai.ChatCompletionNewParams) *openai.ChatCompletion) (calls []ToolCall, final string) {
	t.Helper()
	client, request := b.openai(), params()
	for range 10 {
		answer := ask(t, client, request)
		message := answer.Choices[0].Message
		if len(message.ToolCalls) == 0 {
			return calls, message.Content
		}
		request.Messages = append(request.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			calls = append(calls, ToolCall{call.ID, call.Function.Name, call.Function.Arguments})
			request.Messages = append(request.Messages, openai.ToolMessage("result of "+call.Function.Name, call.ID))
		}
	}
	t.Fatal("the model never stops")
	return nil, ""
}

func askWhole(t *testing.T, client openai.Client, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	answer, err := client.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func askStreamed(t *testing.T, client openai.Client, p openai.ChatCompletionNewParams) *openai.ChatCompletion {
	t.Helper()
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(t.Context(), p)
	defer stream.Close()
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		if !answer.AddChunk(stream.Current()) {
			t.Fatalf("OpenAI's accumulator refuses the chunk %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return &answer.ChatCompletion
}

func TestOpenAIsClientRunsAWholeConversationWithASimulatedModel(t *testing.T) {
	for name, ask := range map[string]func(*testing.T, openai.Client, openai.ChatCompletionNewParams) *openai.ChatCompletion{
		"not streamed": askWhole, "streamed": askStreamed,
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, Config{Upstream: simulated(t, "sim:naive", script), Model: "sim:naive"})
			calls, final := converse(t, b, ask)
			if final != script.ComplyText {
				t.Errorf("final text %q", final)
			}
			if len(calls) != len(script.Comply) {
				t.Fatalf("calls %+v", calls)
			}
			for i, call := range calls {
				var args struct{ Command, Path, Content string }
				if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
					t.Fatalf("arguments %q: %v", call.Arguments, err)
				}
				if got := (Call{call.Name, args.Command, args.Path, args.Content}); got != script.Comply[i] {
					t.Errorf("call %d is %+v, want %+v", i, got, script.Comply[i])
				}
			}
			transcript := b.gateway.Close()
			if got := transcript.ToolCalls(); !slices.Equal(got, calls) {
				t.Errorf("recorded calls %+v, the client saw %+v", got, calls)
			}
			if got := transcript.FinalText(); got != final {
				t.Errorf("recorded final text %q", got)
			}
			var want []ToolResult
			for _, call := range calls {
				want = append(want, ToolResult{call.ID, "result of " + call.Name})
			}
			if got := transcript.ToolResults(); !slices.Equal(got, want) {
				t.Errorf("tool results %+v, want %+v", got, want)
			}
			for _, e := range transcript.Exchanges {
				if e.Outcome != Answered || e.Model != SimSnapshot || e.Fingerprint != simFingerprint || e.Usage.Estimated || e.Usage.Prompt == 0 || e.Streamed != (name == "streamed") {
					t.Errorf("exchange %d: %s", e.Seq, e.Meta())
				}
			}
		})
	}
}

func TestOpenAIsClientListsThePinnedModel(t *testing.T) {
	b := serve(t, Config{Upstream: simulated(t, "sim:naive", script), Model: "sim:naive"})
	client := b.openai()
	page, err := client.Models.List(t.Context())
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "sim:naive" {
		t.Fatalf("%+v, %v", page, err)
	}
	if e := b.gateway.Close().Exchanges[0]; e.Outcome != Listed || e.Method != "GET" || e.Path != "/v1/models" || e.RequestedSampling != nil {
		t.Errorf("recorded as %s", e.Meta())
	}
}

func TestParallelToolCallsOfAStreamReachClientAndRecordAlike(t *testing.T) {
	const stream = ": keep-alive\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":""}}]}}]}` + "\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"path\":"}}]}}]}` + "\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"command\":\"ls\"}"}},{"index":1,"function":{"arguments":"\"/x\"}"}}]}}]}` + "\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\r\n\r\n" +
		"data: [DONE]\r\n\r\n"
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range len(stream) { // every byte a chunk of its own
			w.Write([]byte(stream[i : i+1]))
			w.(http.Flusher).Flush()
		}
	}))
	defer provider.Close()
	b := serve(t, Config{Upstream: provided(t, provider.URL+"/v1", nil), Model: "gpt"})
	message := askStreamed(t, b.openai(), params()).Choices[0].Message
	want := []ToolCall{{"a", "bash", `{"command":"ls"}`}, {"b", "read_file", `{"path":"/x"}`}}
	var got []ToolCall
	for _, call := range message.ToolCalls {
		got = append(got, ToolCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	transcript := b.gateway.Close()
	if !slices.Equal(got, want) || !slices.Equal(transcript.ToolCalls(), want) {
		t.Errorf("the client saw %+v, recorded is %+v, want %+v", got, transcript.ToolCalls(), want)
	}
	if string(transcript.Exchanges[0].Response) != stream {
		t.Error("the stream is not recorded byte by byte")
	}
}
