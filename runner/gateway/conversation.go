package gateway

import (
	"net/http"
	"slices"
)

// ToolCall is one call as the model made it. Arguments is its JSON text, which
// nobody has checked.
type ToolCall struct{ ID, Name, Arguments string }

// ToolResult is what the agent told the model that a call returned.
type ToolResult struct{ ID, Content string }

// FinalText is the text of the last completion, or its refusal if that is where
// the model put its words. It is empty if the model said nothing.
func (t Transcript) FinalText() string {
	for _, e := range slices.Backward(t.Exchanges) {
		if reply, ok := e.completion(); ok {
			return reply.text
		}
	}
	return ""
}

// ToolCalls are the calls of all completions, in order. Calls that are equal are
// still two calls.
func (t Transcript) ToolCalls() []ToolCall {
	var calls []ToolCall
	for _, e := range t.Exchanges {
		if reply, ok := e.completion(); ok {
			calls = append(calls, reply.calls...)
		}
	}
	return calls
}

// ToolResults are the tool messages of the last request that was well-formed, in
// order: a conversation repeats the earlier ones in every request.
func (t Transcript) ToolResults() []ToolResult {
	for _, e := range slices.Backward(t.Exchanges) {
		if e.RequestedSampling == nil {
			continue
		}
		request, err := parseChat(e.Request)
		if err != nil {
			continue
		}
		var results []ToolResult
		for _, m := range request.messages {
			if m.Role == "tool" || m.Role == "function" {
				results = append(results, ToolResult{m.ToolCallID, string(m.Content)})
			}
		}
		return results
	}
	return nil
}

// completion reads the model's answer out of the exchange, if it got one.
func (e *Exchange) completion() (reply, bool) {
	if e.Outcome != Answered || e.Status != http.StatusOK {
		return reply{}, false
	}
	r, err := parseReply(e.ContentType, e.Response)
	return r, err == nil
}
