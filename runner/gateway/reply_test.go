package gateway

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const sse = "text/event-stream; charset=utf-8"

// delta is an event with that delta.
func delta(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
}

func TestRepliesAreReadOutOfWhatServersSend(t *testing.T) {
	const done = "data: [DONE]\n\n"
	whole := func(message string) string { return `{"choices":[{"index":0,"message":` + message + `}]}` }
	call := func(id, name, arguments string) ToolCall { return ToolCall{id, name, arguments} }
	for _, tt := range []struct {
		name, contentType, body string
		text                    string
		calls                   []ToolCall
	}{
		{"text", "application/json", whole(`{"content":"hi"}`), "hi", nil},
		{"a content type that says nothing", "", whole(`{"content":"hi"}`), "hi", nil},
		{"content as parts", "application/json", whole(`{"content":[{"type":"text","text":"a"},{"type":"thinking"},{"type":"text","text":"b"}]}`), "ab", nil},
		{"a refusal of its own", "application/json", whole(`{"content":null,"refusal":"no"}`), "no", nil},
		{"equal calls are two calls", "application/json", whole(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"f","arguments":"{}"}}]}`), "", []ToolCall{call("a", "f", "{}"), call("a", "f", "{}")}},
		{"arguments that are no string", "application/json", whole(`{"tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]}`), "", []ToolCall{call("", "f", `{"a": 1}`)}},
		{"the call of old", "application/json", whole(`{"function_call":{"name":"f","arguments":"{}"}}`), "", []ToolCall{call("", "f", "{}")}},
		{"other choices are passed over", "application/json", `{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]}`, "a", nil},
		{"a byte that is not UTF-8", "application/json", whole("{\"content\":\"a\xffb\"}"), "a\ufffdb", nil},
		{"a stream", sse, delta(`{"content":"a"}`) + delta(`{"content":"b"}`) + done, "ab", nil},
		{"a stream with CRLF", sse, strings.ReplaceAll(delta(`{"content":"a"}`)+done, "\n", "\r\n"), "a", nil},
		{"a stream with CR", sse, strings.ReplaceAll(delta(`{"content":"a"}`)+done, "\n", "\r"), "a", nil},
		{"keep-alive comments and other fields", sse, ": ping\n\n:\n\nevent: x\nid: 1\nretry: 5\n" + delta(`{"content":"a"}`) + ": ping\n" + done, "a", nil},
		{"an event over several data lines", sse, "data: {\"choices\":[{\"index\":0,\ndata:\"delta\":{\"content\":\"a\"}}]}\n\n" + done, "a", nil},
		{"no empty line at the end", sse, delta(`{"content":"a"}`) + "data: [DONE]", "a", nil},
		{"a byte order mark", sse, "\ufeff" + delta(`{"content":"a"}`) + done, "a", nil},
		{"no space after the colon", sse, strings.ReplaceAll(delta(`{"content":"a"}`)+done, "data: ", "data:"), "a", nil},
		{"events without choices", sse, `data: {"choices":[],"prompt_filter_results":[]}` + "\n\n" + delta(`{"content":"a"}`) + `data: {"choices":[],"usage":{"prompt_tokens":1}}` + "\n\n" + done, "a", nil},
		{"a call in pieces", sse, delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`) + delta(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`) + done, "", []ToolCall{call("a", "f", "{}")}},
		{"two calls that a server sends under one index", sse, delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}]}`) + delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"2"}}]}`) + done, "", []ToolCall{call("a", "f", "1"), call("b", "g", "2")}},
		{"calls without an index", sse, delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}},{"id":"b","function":{"name":"g","arguments":"2"}}]}`) + done, "", []ToolCall{call("a", "f", "1"), call("b", "g", "2")}},
		{"an index from a hostile server", sse, delta(`{"tool_calls":[{"index":999999999,"function":{"name":"f"}},{"index":-1,"function":{"name":"g"}}]}`) + done, "", []ToolCall{call("", "f", ""), call("", "g", "")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseReply(tt.contentType, []byte(tt.body))
			if err != nil || got.text != tt.text || !slices.Equal(got.calls, tt.calls) {
				t.Errorf("got %q %+v, %v", got.text, got.calls, err)
			}
		})
	}
}

func TestWhatIsNoWholeAnswerIsAnError(t *testing.T) {
	for name, in := range map[string][2]string{
		"a page of a proxy":              {"text/html", "<html>Bad gateway</html>"},
		"cut JSON":                       {"application/json", okBody[:len(okBody)-2]},
		"no choices":                     {"application/json", `{"choices":[]}`},
		"an error under status 200":      {"application/json", `{"error":{"message":"overloaded"},"choices":[{"index":0,"message":{}}]}`},
		"a member named twice":           {"application/json", `{"choices":[{"index":0,"message":{"content":"a","content":"b"}}]}`},
		"an empty stream":                {sse, ""},
		"a stream without its end":       {sse, delta(`{"content":"a"}`)},
		"a stream of the end alone":      {sse, "data: [DONE]\n\n"},
		"a stream with something broken": {sse, "data: {\"choices\"\n\ndata: [DONE]\n\n"},
	} {
		if got, err := parseReply(in[0], []byte(in[1])); err == nil {
			t.Errorf("%s: taken for the text %q", name, got.text)
		}
	}
}

func TestUsageIsTheProvidersOrFourBytesAToken(t *testing.T) {
	for _, tt := range []struct {
		name, usage string
		want        Usage
	}{
		{"the provider's", `{"prompt_tokens":3,"completion_tokens":4}`, Usage{3, 4, false}},
		{"none given", `null`, Usage{3, 2, true}},
		{"a negative one", `{"prompt_tokens":-3,"completion_tokens":4}`, Usage{3, 2, true}},
		{"one that no number holds", `{"prompt_tokens":9007199254740993,"completion_tokens":4}`, Usage{3, 2, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parseReply("application/json", []byte(`{"choices":[{"index":0,"message":{"content":"hello"}}],"usage":`+tt.usage+`}`))
			if got := r.count(make([]byte, 12)); err != nil || got != tt.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// encode writes a stream with what a server is free to choose.
func encode(data [][]byte, eol string, comment bool) []byte {
	var out strings.Builder
	for i, d := range data {
		if comment {
			fmt.Fprintf(&out, ": %d%s", i, eol)
		}
		for line := range strings.SplitSeq(string(d), "\n") {
			out.WriteString("data: " + line + eol)
		}
		out.WriteString(eol)
	}
	return []byte(out.String())
}

func FuzzEventsSurviveEveryEncoding(f *testing.F) {
	f.Add([]byte("data: a\ndata: b\n\ndata\n\n: c\r\rdata:d"))
	f.Add([]byte("\ufeffdata: a\r\n\r\ndata: [DONE]"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		data := events(stream)
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			if again := events(encode(data, eol, eol == "\r")); !reflect.DeepEqual(again, data) {
				t.Fatalf("%q comes back as %q with %q", data, again, eol)
			}
		}
	})
}

func FuzzReassemblyGivesBackWhatWasCutUp(f *testing.F) {
	f.Add("hello 😀", `{"command":"ls"}`, uint8(3), []byte("data: {}"))
	f.Fuzz(func(t *testing.T, words, args string, size uint8, junk []byte) {
		if r, err := parseReply(sse, junk); err == nil && !utf8.ValidString(r.text) {
			t.Fatalf("text %q is not UTF-8", r.text)
		}
		if !utf8.ValidString(words) || !utf8.ValidString(args) {
			return
		}
		var stream strings.Builder
		cut := func(text string, format string) {
			for runes := []rune(text); len(runes) > 0; {
				n := min(int(size)+1, len(runes))
				quoted, err := jsontext.AppendQuote(nil, string(runes[:n]))
				if err != nil {
					t.Fatal(err)
				}
				stream.WriteString(delta(fmt.Sprintf(format, quoted)))
				runes = runes[n:]
			}
		}
		stream.WriteString(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`))
		cut(words, `{"content":%s}`)
		cut(args, `{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}`)
		got, err := parseReply(sse, []byte(stream.String()+"data: [DONE]\n\n"))
		if err != nil || got.text != words || !slices.Equal(got.calls, []ToolCall{{"a", "f", args}}) {
			t.Fatalf("got %q %+v, %v, want %q %q", got.text, got.calls, err, words, args)
		}
	})
}
