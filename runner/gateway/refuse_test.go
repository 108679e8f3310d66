package gateway

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWhatMustNotReachAProviderIsRefusedAndRecorded(t *testing.T) {
	const user = `"messages":[{"role":"user","content":"x"}]`
	part := func(part string) string {
		return `{"messages":[{"role":"user","content":[{"type":"text","text":"see https://example.com"},` + part + `]}]}`
	}
	for _, tt := range []struct{ name, body, code, says string }{
		{"nothing", ``, codeMalformed, "not one JSON object"},
		{"not JSON", `{"messages":`, codeMalformed, "not valid JSON"},
		{"two objects", hello + hello, codeMalformed, "not one JSON object"},
		{"a list", `[]`, codeMalformed, "not one JSON object"},
		{"bytes that are not UTF-8", "{" + user + ",\"a\":\"\xff\"}", codeMalformed, "at byte 49"},
		{"half a surrogate pair", "{" + user + `,"a":"\ud83d"}`, codeMalformed, "not valid JSON"},
		{"a member named twice", `{"temperature":0,` + user + `,"temperature":2}`, codeMalformed, "twice, at byte"},
		{"one named twice by an escape", `{"temperature":0,` + user + `,"\u0074emperature":2}`, codeMalformed, "twice"},
		{"one named twice in depth", `{"messages":[{"role":"user","role":"system","content":"x"}]}`, codeMalformed, "twice"},
		{"a pinned member in capitals", `{` + user + `,"Temperature":2}`, codeMalformed, "temperature is not spelled in lower case"},
		{"one by the Kelvin sign", `{` + user + `,"top_` + "\u212a" + `":2}`, codeMalformed, "top_k is not spelled"},
		{"no messages", `{"model":"m"}`, codeMalformed, "messages is missing"},
		{"messages that are none", `{"messages":"hello"}`, codeMalformed, "messages is not a list"},
		{"stream that is no truth value", `{` + user + `,"stream":"yes"}`, codeMalformed, "stream is not true or false"},
		{"two answers", `{` + user + `,"n":2}`, codeRefused, "n must be 1"},
		{"two answers in disguise", `{` + user + `,"n":"2"}`, codeRefused, "n must be 1"},
		{"web search", `{` + user + `,"web_search_options":{}}`, codeRefused, "hosted tool"},
		{"web search in capitals", `{` + user + `,"Web_Search_Options":{}}`, codeRefused, "hosted tool"},
		{"another model as a fallback", `{` + user + `,"models":["a","b"]}`, codeRefused, "choice of the model"},
		{"a hosted tool", `{` + user + `,"tools":[{"type":"function","function":{}},{"type":"web_search"}]}`, codeRefused, "tools[1]"},
		{"a hosted tool by an escape", `{` + user + `,"tools":[{"type":"\u006dcp"}]}`, codeRefused, "tools[0]"},
		{"a tool of two types", `{` + user + `,"tools":[{"type":"function","Type":"mcp"}]}`, codeRefused, "tools[0]"},
		{"a tool without a type", `{` + user + `,"tools":[{"function":{}}]}`, codeRefused, "tools[0] has no type"},
		{"a tool whose type is no string", `{` + user + `,"tools":[{"type":1}]}`, codeRefused, "tools[0]"},
		{"a remote image", part(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`), codeRefused, "url is not in the request"},
		{"a remote image, short form", part(`{"type":"image_url","image_url":"http://example.com/a.png"}`), codeRefused, "image_url"},
		{"a local file of the server's", part(`{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}`), codeRefused, "url"},
		{"a remote image under another name", part(`{"type":"video_url","VIDEO_URL":{"URL":["http://example.com/"]}}`), codeRefused, "URL"},
		{"a file that the provider holds", part(`{"type":"file","file":{"file_id":"file-1"}}`), codeRefused, "file_id"},
		{"a URL in the place of a file", part(`{"type":"file","file":{"file_data":"https://example.com/a.pdf"}}`), codeRefused, "file_data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var upstream completion
			b := serve(t, Config{Upstream: &upstream})
			got := b.post(t, tt.body)
			if got.status != 400 || !strings.Contains(got.body, `"`+tt.code+`"`) || !strings.Contains(got.body, tt.says) {
				t.Errorf("the agent got %d %s", got.status, got.body)
			}
			if len(upstream.asked) > 0 {
				t.Error("it went on to the upstream")
			}
			e := b.gateway.Close().Exchanges[0]
			if e.Outcome != Refused || string(e.Request) != tt.body || string(e.Response) != got.body || e.Effective != nil {
				t.Errorf("recorded as %s", e.Meta())
			}
		})
	}
}

func TestWhatOnlyLooksLikeARemoteReferencePasses(t *testing.T) {
	for name, body := range map[string]string{
		"a URL in text":                    `{"messages":[{"role":"user","content":"http://example.com/"}]}`,
		"a URL in a text part":             `{"messages":[{"role":"user","content":[{"type":"text","text":"http://example.com/"}]}]}`,
		"a data: URL":                      `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`,
		"a file in the request itself":     `{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"a.pdf"}}]}]}`,
		"audio in the request itself":      `{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]}`,
		"a URL in a call's arguments":      `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"get","arguments":"{\"url\":\"http://example.com/\"}"}}]}]}`,
		"a function with a url parameter":  `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"get","parameters":{"properties":{"url":{"type":"string","default":"http://example.com/"}}}}}]}`,
		"nulls in the place of what isn't": `{"messages":[{"role":"user","content":"x"}],"n":null,"tools":null,"stream":null,"stream_options":null,"web_search_options":null}`,
		"one answer, oddly spelled":        `{"messages":[{"role":"user","content":"x"}],"n":1.0}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, Config{Upstream: new(completion)})
			if got := b.post(t, body); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

func FuzzNoRemoteReferencePassesHoweverDeep(f *testing.F) {
	f.Add("url", "https://example.com/", uint8(0), []byte(hello))
	f.Add("Image_URL", "data:image/png;base64,AA==", uint8(3), []byte(`{"tools":[{"type":1}]}`))
	f.Add("file_id", "x", uint8(9), []byte(`{"messages":[[[{"url":["`))
	f.Fuzz(func(t *testing.T, name, value string, depth uint8, junk []byte) {
		parseChat(junk) // whatever it is, no panic
		quotedName, errName := jsontext.AppendQuote(nil, name)
		quotedValue, errValue := jsontext.AppendQuote(nil, value)
		if errName != nil || errValue != nil {
			return
		}
		nested := string(quotedValue)
		for i := range int(depth) {
			nested = []string{"[" + nested + "]", `{` + string(quotedName) + `:` + nested + `}`}[i%2]
		}
		body := `{"messages":[{"role":"user","content":[{"type":"text","text":"x",` + strings.TrimPrefix(`{`+string(quotedName)+`:`+nested+`}]}]}`, "{")
		_, refusal := parseChat([]byte(body))
		lower := strings.ToLower(name)
		isReference := lower == "file_id" || (lower == "url" || strings.HasSuffix(lower, "_url")) && !strings.HasPrefix(value, "data:")
		if isReference && refusal == nil {
			t.Fatalf("passes: %s", body)
		}
	})
}
