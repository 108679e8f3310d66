package gateway

import (
	"bytes"
	"unicode/utf8"

	"litmus/internal/digest"

	"github.com/go-json-experiment/json/jsontext"
)

// simCompletion is one simulated answer: words, or a call.
type simCompletion struct {
	request chatRequest
	size    int // of the request, in bytes
	id      string
	text    string
	call    *Call
}

const (
	simFingerprint = "fp_sim_1"
	// simPiece is how many bytes a streamed delta has, so that streams have several.
	simPiece = 24
)

// simID derives the id of an answer from the request, so that equal requests have
// equal answers. It names nothing outside of its own conversation.
func simID(body []byte) string { return digest.Sum(body).String()[:24] }

var null = jsontext.Value("null")

// arguments is the call's JSON text, nil if there is no such tool.
func (c Call) arguments() []byte {
	switch c.Tool {
	case "bash":
		return mustCanonical(map[string]string{"command": c.Command})
	case "read_file":
		return mustCanonical(map[string]string{"path": c.Path})
	case "write_file":
		return mustCanonical(map[string]string{"path": c.Path, "content": c.Content})
	default:
		return nil
	}
}

func (c simCompletion) toolCall(arguments string) map[string]any {
	return map[string]any{
		"id": "call_" + c.id, "type": "function",
		"function": map[string]any{"name": c.call.Tool, "arguments": arguments},
	}
}

func (c simCompletion) finishReason() string {
	if c.call != nil {
		return "tool_calls"
	}
	return "stop"
}

func (c simCompletion) usage() map[string]any {
	written := len(c.text)
	if c.call != nil {
		written = len(c.call.Tool) + len(c.call.arguments())
	}
	prompt, completion := tokensIn(c.size), tokensIn(written)
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
}

// envelope is what a whole answer and a chunk have in common.
func (c simCompletion) envelope(object string, choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{
		"id": "chatcmpl-" + c.id, "object": object, "created": 0, "model": SimSnapshot,
		"system_fingerprint": simFingerprint, "choices": choices,
	}
}

// whole is the answer as one JSON object.
func (c simCompletion) whole() []byte {
	message := map[string]any{"role": "assistant", "content": c.text, "refusal": null}
	if c.call != nil {
		message["content"] = null
		message["tool_calls"] = []any{c.toolCall(string(c.call.arguments()))}
	}
	answer := c.envelope("chat.completion", map[string]any{
		"index": 0, "message": message, "logprobs": null, "finish_reason": c.finishReason(),
	})
	answer["usage"] = c.usage()
	return mustCanonical(answer)
}

// stream is the answer as an event stream.
func (c simCompletion) stream() []byte {
	var out bytes.Buffer
	send := func(chunk map[string]any) {
		out.WriteString("data: ")
		out.Write(mustCanonical(chunk))
		out.WriteString("\n\n")
	}
	delta := func(delta map[string]any, finish any) {
		chunk := c.envelope("chat.completion.chunk", map[string]any{
			"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish,
		})
		if c.request.includeUsage {
			chunk["usage"] = null // every chunk but the last one has it so
		}
		send(chunk)
	}
	if c.call != nil {
		opening := c.toolCall("")
		opening["index"] = 0
		delta(map[string]any{"role": "assistant", "content": null, "tool_calls": []any{opening}}, null)
		for _, piece := range pieces(string(c.call.arguments())) {
			more := map[string]any{"index": 0, "function": map[string]any{"arguments": piece}}
			delta(map[string]any{"tool_calls": []any{more}}, null)
		}
	} else {
		delta(map[string]any{"role": "assistant", "content": ""}, null)
		for _, piece := range pieces(c.text) {
			delta(map[string]any{"content": piece}, null)
		}
	}
	delta(map[string]any{}, c.finishReason())
	if c.request.includeUsage {
		last := c.envelope("chat.completion.chunk")
		last["usage"] = c.usage()
		send(last)
	}
	out.WriteString("data: " + endOfStream + "\n\n")
	return out.Bytes()
}

// pieces cuts text after every simPiece bytes or, where that is inside of a
// character, after the character.
func pieces(text string) []string {
	var list []string
	for len(text) > simPiece {
		cut := simPiece
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		list = append(list, text[:cut])
		text = text[cut:]
	}
	return append(list, text)
}
