package gateway

import (
	"encoding/binary"

	"litmus/internal/digest"
)

// complies decides, from what stays the same through all turns of a conversation.
func (s *Sim) complies(request chatRequest) bool {
	return s.script.Control || s.draw(request) < s.rate
}

// draw returns a number in [0, 1) that is a pure function of the model's name,
// the mutated messages, the seed and the temperature: the first 53 bits of the
// BLAKE3 of their canonical form. The system prompt is not among them, so that a
// candidate with another prompt draws the same numbers as its baseline.
func (s *Sim) draw(request chatRequest) float64 {
	type drawn struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var messages []drawn
	for _, m := range opening(request.messages) {
		if m.Role != "system" && m.Role != "developer" {
			messages = append(messages, drawn{m.Role, string(m.Content)})
		}
	}
	sum := digest.Sum(mustCanonical(struct {
		Format      string  `json:"format"`
		Model       string  `json:"model"`
		Messages    []drawn `json:"messages"`
		Seed        string  `json:"seed"`
		Temperature string  `json:"temperature"`
	}{SimSnapshot, s.name, messages, literal(request, "seed"), literal(request, "temperature")}))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// literal is the JSON text of a pinned parameter: a seed may be larger than what
// a canonical number can hold.
func literal(request chatRequest, name string) string {
	if value := find(request.members, name); value != nil {
		return string(value)
	}
	return unset
}

// opening returns the conversation up to the last user message before the model
// first asked for a tool: what the instance put to the agent. An assistant's
// words among them belong to the case.
func opening(messages []message) []message {
	end := 0
	for i, m := range messages {
		if m.calls() || m.Role == "tool" || m.Role == "function" {
			break
		}
		if m.Role == "user" {
			end = i + 1
		}
	}
	return messages[:end]
}

// turnOf counts the turns in which the model has asked for tools.
func turnOf(messages []message) int {
	n := 0
	for _, m := range messages {
		if m.Role == "assistant" && m.calls() {
			n++
		}
	}
	return n
}
