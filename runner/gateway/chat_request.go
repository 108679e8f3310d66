package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatRequest is a Chat Completions request as far as the gateway looks at it.
type chatRequest struct {
	members  []member
	messages []message
	stream   bool
	// includeUsage is stream_options.include_usage.
	includeUsage bool
}

// parseChat reads a request, or says why it is refused. Its error texts are our
// own: those of the JSON package differ between its versions, and within one on
// purpose, and they would end up in the transcript.
func parseChat(body []byte) (chatRequest, *apiError) {
	list, err := members(body)
	if err != nil {
		return chatRequest{}, malformed(syntaxMessage(err))
	}
	if err := refuse(list); err != nil {
		return chatRequest{}, err
	}
	request := chatRequest{members: list}
	var options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	for _, field := range []struct {
		name string
		into any
		want string
	}{
		{"messages", &request.messages, "a list of chat messages"},
		{"stream", &request.stream, "true or false"},
		{"stream_options", &options, "an object with include_usage"},
	} {
		if value := find(list, field.name); value != nil && json.Unmarshal(value, field.into) != nil {
			return chatRequest{}, malformed(fmt.Sprintf("%s is not %s", field.name, field.want))
		}
	}
	if len(request.messages) == 0 {
		return chatRequest{}, malformed("messages is missing or empty")
	}
	request.includeUsage = options.IncludeUsage
	return request, nil
}

func syntaxMessage(err error) string {
	var syntax *jsontext.SyntacticError
	switch {
	case !errors.As(err, &syntax):
		return "the body is not one JSON object"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the body names a member twice, at byte %d", syntax.ByteOffset)
	default:
		return fmt.Sprintf("the body is not valid JSON, at byte %d", syntax.ByteOffset)
	}
}

// find returns the value of a member, or nil if it is absent.
func find(list []member, name string) jsontext.Value {
	if i := slices.IndexFunc(list, func(m member) bool { return m.name == name }); i >= 0 {
		return list[i].value
	}
	return nil
}

// message is one message of the conversation, a request's or an answer's.
type message struct {
	Role       string     `json:"role"`
	Content    text       `json:"content"`
	Refusal    string     `json:"refusal"`
	ToolCalls  []toolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	// FunctionCall is what came before tool_calls; some clients still use it.
	FunctionCall *function `json:"function_call"`
}

type toolCall struct {
	// Index tells calls apart in a stream; nil if it is left out.
	Index    *int     `json:"index"`
	ID       string   `json:"id"`
	Function function `json:"function"`
}

type function struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// calls reports whether the message asks for tools to be run.
func (m message) calls() bool { return len(m.ToolCalls) > 0 || m.FunctionCall != nil }

// text is a message's content: a string, or a list of parts of which the text
// parts, joined, are the text. null is no text.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		return json.UnmarshalDecode(dec, (*string)(t))
	}
	var parts []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if err := json.UnmarshalDecode(dec, &parts); err != nil {
		return err
	}
	var joined strings.Builder
	for _, part := range parts {
		joined.WriteString(part.Text)
		joined.WriteString(part.Refusal)
	}
	*t = text(joined.String())
	return nil
}

// arguments is a call's JSON text. The format has it as a string; servers that
// send the object itself are met in the wild.
type arguments string

func (a *arguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind == '"' || kind == 'n' {
		return json.UnmarshalDecode(dec, (*string)(a))
	}
	value, err := dec.ReadValue()
	*a = arguments(value)
	return err
}
