package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reply is an answer of the model, put together out of a response body.
type reply struct {
	text               string
	calls              []ToolCall
	model, fingerprint string
	// usage is nil if the provider said nothing of it.
	usage *usage
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// chunk is a whole answer, or one event of a streamed one.
type chunk struct {
	Model       string `json:"model"`
	Fingerprint string `json:"system_fingerprint"`
	Choices     []struct {
		Index   int     `json:"index"`
		Message message `json:"message"`
		Delta   message `json:"delta"`
	} `json:"choices"`
	Usage *usage         `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// A broken byte in an answer is no reason to lose the instance: it decodes to
// U+FFFD, and the record has the byte. A member named twice is one: agent and
// record could each read another call out of it.
var lenient = jsontext.AllowInvalidUTF8(true)

const endOfStream = "[DONE]"

// parseReply reads the body of a successful response. It fails if the body is
// not one whole answer.
func parseReply(contentType string, body []byte) (reply, error) {
	var r replyBuilder
	if !isEventStream(contentType) {
		return r.finish(r.add(body, false))
	}
	list := events(body)
	done := slices.IndexFunc(list, func(data []byte) bool { return string(data) == endOfStream })
	if done < 0 {
		return reply{}, errors.New("the stream ends without " + endOfStream)
	}
	for i, data := range list[:done] {
		if err := r.add(data, true); err != nil {
			return reply{}, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return r.finish(nil)
}

func isEventStream(contentType string) bool {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return mediaType == "text/event-stream"
}

// replyBuilder puts a reply together chunk by chunk.
type replyBuilder struct {
	reply
	content, refusal strings.Builder
	building         []*callBuilder
	answered         bool
}

// callBuilder is a tool call under way. Servers that leave the index out exist.
type callBuilder struct {
	index     *int
	id        string
	name      strings.Builder
	arguments strings.Builder
}

func (r *replyBuilder) add(data []byte, streamed bool) error {
	var c chunk
	if err := json.Unmarshal(data, &c, lenient); err != nil {
		return errors.New("not the JSON of a chat completion")
	}
	if c.Error != nil && c.Error.Kind() != 'n' {
		return errors.New("the provider reports an error in place of an answer")
	}
	r.model = cmp.Or(c.Model, r.model)
	r.fingerprint = cmp.Or(c.Fingerprint, r.fingerprint)
	if c.Usage.plausible() {
		r.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		r.answered = true
		if streamed {
			r.addMessage(choice.Delta, streamed)
		} else {
			r.addMessage(choice.Message, streamed)
		}
	}
	return nil
}

// plausible guards the token count against what JSON can't hold exactly.
func (u *usage) plausible() bool {
	const most = 1 << 50
	return u != nil && u.PromptTokens >= 0 && u.PromptTokens < most && u.CompletionTokens >= 0 && u.CompletionTokens < most
}

func (r *replyBuilder) addMessage(m message, streamed bool) {
	r.content.WriteString(string(m.Content))
	r.refusal.WriteString(m.Refusal)
	if m.FunctionCall != nil {
		m.ToolCalls = append(m.ToolCalls, toolCall{Function: *m.FunctionCall})
	}
	for _, call := range m.ToolCalls {
		b := r.builder(call.Index, call.ID)
		if b == nil || !streamed {
			b = &callBuilder{index: call.Index}
			r.building = append(r.building, b)
		}
		b.id = cmp.Or(b.id, call.ID)
		b.name.WriteString(call.Function.Name)
		b.arguments.WriteString(string(call.Function.Arguments))
	}
}

// builder finds the call that a delta goes on with: the last one of its index,
// unless the delta brings another id. Servers that send every call under index
// 0, or under none, tell them apart by id only.
func (r *replyBuilder) builder(index *int, id string) *callBuilder {
	for _, b := range slices.Backward(r.building) {
		sameIndex := index == nil || b.index == nil || *b.index == *index
		if sameIndex && (id == "" || b.id == "" || b.id == id) {
			return b
		}
	}
	return nil
}

func (r *replyBuilder) finish(err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	if !r.answered {
		return reply{}, errors.New("the answer has no choices")
	}
	r.text = r.content.String()
	if r.text == "" {
		r.text = r.refusal.String()
	}
	for _, b := range r.building {
		r.calls = append(r.calls, ToolCall{b.id, b.name.String(), b.arguments.String()})
	}
	return r.reply, nil
}
