package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// events returns the data of all events in text.
func events(t testing.TB, in io.Reader) []string {
	t.Helper()
	r := newEventReader(bufio.NewReader(in))
	var all []string
	for {
		data, err := r.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
}

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"LF":                                   {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CRLF":                                 {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"CR":                                   {"data: a\r\rdata: b\r\r", []string{"a", "b"}},
		"several data lines are one event":     {"data: a\ndata: b\ndata\n\n", []string{"a\nb\n"}},
		"one space after the colon is no data": {"data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		"comments keep the stream alive":       {": ping\n\n:\r\n\r\ndata: a\n: in between\n\n", []string{"a"}},
		"other fields are left alone":          {"event: x\nid: 1\nretry: 2\ndatum: no\ndata: a\n\nevent: y\n\n", []string{"a"}},
		"an empty event is an event":           {"data:\n\n", []string{""}},
		"an event without its end is none":     {"data: a\n\ndata: b\n", []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := events(t, strings.NewReader(c.text)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("events %q, want %q", got, c.want)
			}
			if got := events(t, iotest.OneByteReader(strings.NewReader(c.text))); !reflect.DeepEqual(got, c.want) {
				t.Errorf("byte by byte: events %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzEvents holds that events written out are read back, whichever way their
// lines end.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\n\ndata: b\r\n\r\n: c\rdata\r\r"))
	f.Add([]byte("data:{\"choices\":[]}\n\ndata: [DONE]\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := events(t, bytes.NewReader(text))
		for _, end := range []string{"\n", "\r\n", "\r"} {
			var again strings.Builder
			for _, data := range got {
				for line := range strings.SplitSeq(data, "\n") {
					fmt.Fprintf(&again, "data: %s%s", line, end)
				}
				again.WriteString(end)
			}
			if read := events(t, strings.NewReader(again.String())); !reflect.DeepEqual(read, got) {
				t.Fatalf("%q with ends %q became %q", got, end, read)
			}
		}
	})
}

func TestAStreamBecomesTheMessageThatItIs(t *testing.T) {
	two := message{Role: "assistant", Content: "I run it.", ToolCalls: []toolCall{
		{ID: "call_1", Type: "function", Function: functionCall{Name: "bash", Arguments: `{"command":"ls"}`}},
		{ID: "call_2", Type: "function", Function: functionCall{Name: "read_file", Arguments: `{"path":"/a"}`}},
	}}
	for name, c := range map[string]struct {
		chunks []string
		want   message
		err    string
	}{
		"text in parts": {[]string{
			`{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`{"choices":[{"delta":{"content":"Hel"}}]}`,
			`{"choices":[{"delta":{"content":"lo"}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`,
		}, message{Role: "assistant", Content: "Hello"}, ""},
		"tool calls in parts that alternate": {[]string{
			`{"choices":[{"delta":{"content":"I run it.","tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"read_file","arguments":"{\"pa"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"bash","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"th\":\"/a\"}"}},{"index":0,"function":{"arguments":"{\"command\":"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"bash","arguments":"\"ls\"}"}}]},"finish_reason":"tool_calls"}]}`,
			`{"choices":[],"usage":{"total_tokens":3}}`, `[DONE]`,
		}, two, ""},
		"a refusal":                   {[]string{`{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}`}, message{Role: "assistant", Refusal: "No."}, ""},
		"another choice is left out":  {[]string{`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`, `[DONE]`}, message{Role: "assistant", Content: "y"}, ""},
		"an end without a reason":     {[]string{`{"choices":[{"delta":{"content":"Hel"}}]}`}, message{}, "broke off"},
		"an error in the middle":      {[]string{`{"error":{"message":"overloaded"}}`}, message{}, "overloaded"},
		"a chunk that is not JSON":    {[]string{`{"choices"`}, message{}, "unexpected end"},
		"more calls than anyone asks": {manyCalls(maxToolCalls + 1), message{}, "more than 128 tool calls"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "data: " + strings.Join(c.chunks, "\r\n\r\n: keep-alive\r\n\r\ndata: ") + "\r\n\r\n"
			got, err := readStream(strings.NewReader(text))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("readStream: %v, want %q", err, c.err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("message %+v, want %+v", got, c.want)
			}
		})
	}
}

func manyCalls(n int) []string {
	var chunks []string
	for i := range n {
		chunks = append(chunks, fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d}]}}]}`, i*1_000_000))
	}
	return chunks
}
