package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswer bounds one answer of the model, in bytes.
const maxAnswer = 64 << 20

// maxErrorText is how much of an error answer is printed, in bytes.
const maxErrorText = 4 << 10

// The OpenAI Chat Completions format, as much of it as the agent needs. Field
// order is the order on the wire.
type (
	request struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Tools    []tool    `json:"tools"`
		Stream   bool      `json:"stream,omitempty"`
	}
	message struct {
		Role       string     `json:"role"`
		Content    string     `json:"content"`
		Refusal    string     `json:"refusal,omitempty"`
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	toolCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function functionCall `json:"function"`
	}
	functionCall struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	completion struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
)

// text is what the model says to the user: where it declines through the
// format's own field, that.
func (m message) text() string {
	if m.Content == "" {
		return m.Refusal
	}
	return m.Content
}

// model is a model behind an OpenAI-compatible URL.
type model struct {
	url, key string
	stream   bool
	client   *http.Client
}

// newModel returns the model at base, which is the part of the URL before
// /chat/completions.
func newModel(base, key string, stream bool) *model {
	return &model{
		url: strings.TrimRight(base, "/") + "/chat/completions", key: key, stream: stream,
		// A connection each: a reused one may be closed under the request, and
		// then it depends on timing what the gateway sees.
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}},
	}
}

// ask sends one request and returns the model's message. It does not retry;
// that is the gateway's business.
func (m *model) ask(r request) (message, error) {
	r.Stream = m.stream
	body, err := encode(r)
	if err != nil {
		return message{}, fmt.Errorf("model: encoding the request: %w", err)
	}
	post, err := http.NewRequest(http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return message{}, fmt.Errorf("model: %w", err)
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Authorization", "Bearer "+m.key)
	post.Header.Set("User-Agent", "litmus-reference-agent/1")
	answer, err := m.client.Do(post)
	if err != nil {
		return message{}, fmt.Errorf("model: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorText))
		return message{}, fmt.Errorf("model: %s: %s", answer.Status, bytes.TrimSpace(text))
	}
	read := readCompletion
	if m.stream {
		read = readStream
	}
	got, err := read(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return message{}, fmt.Errorf("model: reading the answer: %w", err)
	}
	return got, nil
}

// readCompletion reads an answer that comes in one piece.
func readCompletion(in io.Reader) (message, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return message{}, err
	}
	var c completion
	if err := json.Unmarshal(text, &c); err != nil {
		return message{}, err
	}
	if len(c.Choices) == 0 {
		return message{}, errors.New("it has no choices")
	}
	m := c.Choices[0].Message
	m.Role = "assistant"
	return m, nil
}

// encode is JSON without the escapes that are for HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
