package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxToolCalls bounds the tool calls of one answer.
const maxToolCalls = 128

// chunk is one event of a streamed answer.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string `json:"content"`
			Refusal   string `json:"refusal"`
			ToolCalls []struct {
				Index    int          `json:"index"`
				ID       string       `json:"id"`
				Function functionCall `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// streamEnd is the event after the last chunk.
const streamEnd = "[DONE]"

// readStream puts a streamed answer together: it is the message that the same
// answer in one piece would be.
func readStream(in io.Reader) (message, error) {
	events := newEventReader(bufio.NewReader(in))
	var parts assembly
	for {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF) && !parts.finished:
			return message{}, fmt.Errorf("the stream broke off: %w", io.ErrUnexpectedEOF)
		case errors.Is(err, io.EOF), data == streamEnd:
			return parts.message(), nil
		case err != nil:
			return message{}, err
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return message{}, err
		}
		if err := parts.add(c); err != nil {
			return message{}, err
		}
	}
}

// assembly is a message as far as its chunks have come.
type assembly struct {
	content, refusal []byte
	calls            []*partialCall
	finished         bool
}

type partialCall struct {
	index     int
	id, name  string
	arguments []byte
}

// add takes the next chunk. Parts of tool calls belong together by index.
func (a *assembly) add(c chunk) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return fmt.Errorf("the stream has an error: %s", c.Error)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		a.content = append(a.content, choice.Delta.Content...)
		a.refusal = append(a.refusal, choice.Delta.Refusal...)
		for _, part := range choice.Delta.ToolCalls {
			call, err := a.call(part.Index)
			if err != nil {
				return err
			}
			// Some servers repeat these with every part.
			if call.id == "" {
				call.id = part.ID
			}
			if call.name == "" {
				call.name = part.Function.Name
			}
			call.arguments = append(call.arguments, part.Function.Arguments...)
		}
		if choice.FinishReason != "" {
			a.finished = true
		}
	}
	return nil
}

// call returns the tool call of that index, a new one where there is none.
func (a *assembly) call(index int) (*partialCall, error) {
	at, found := slices.BinarySearchFunc(a.calls, index, func(c *partialCall, index int) int { return c.index - index })
	if found {
		return a.calls[at], nil
	}
	if len(a.calls) == maxToolCalls {
		return nil, fmt.Errorf("an answer has more than %d tool calls", maxToolCalls)
	}
	a.calls = slices.Insert(a.calls, at, &partialCall{index: index})
	return a.calls[at], nil
}

func (a *assembly) message() message {
	m := message{Role: "assistant", Content: string(a.content), Refusal: string(a.refusal)}
	for _, call := range a.calls {
		m.ToolCalls = append(m.ToolCalls, toolCall{
			ID: call.id, Type: "function",
			Function: functionCall{Name: call.name, Arguments: string(call.arguments)},
		})
	}
	return m
}
