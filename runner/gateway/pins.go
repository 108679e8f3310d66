package gateway

import (
	"fmt"

	"litmus/internal/canon"

	"github.com/go-json-experiment/json/jsontext"
)

// Pins are the sampling parameters that reach the model, whatever the agent
// asked for. A nil field is pinned to "unset": the parameter is taken out of the
// request.
type Pins struct {
	Temperature, TopP                                    *float64
	PresencePenalty, FrequencyPenalty, RepetitionPenalty *float64
	TopK, Seed, MaxTokens                                *int64
	// LogitBias maps token ids to biases.
	LogitBias map[string]float64
}

// unset stands in the record for a parameter that a request does not have.
const unset = "unset"

// A request limits the answer under one of two names. OpenAI's reasoning models
// refuse the older one, most other servers know no other.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// pin is one member of the request that the gateway decides on. A nil value
// takes the member out.
type pin struct {
	name  string
	value jsontext.Value
}

// pinned lists every pinned member, the model among them, in order of name.
func (p Pins) pinned(model string) ([]pin, error) {
	fields := []struct {
		name  string
		set   bool
		value any
	}{
		{"frequency_penalty", p.FrequencyPenalty != nil, p.FrequencyPenalty},
		{"logit_bias", p.LogitBias != nil, p.LogitBias},
		{maxTokens, p.MaxTokens != nil, p.MaxTokens},
		{"model", true, model},
		{"presence_penalty", p.PresencePenalty != nil, p.PresencePenalty},
		{"repetition_penalty", p.RepetitionPenalty != nil, p.RepetitionPenalty},
		{"seed", p.Seed != nil, p.Seed},
		{"temperature", p.Temperature != nil, p.Temperature},
		{"top_k", p.TopK != nil, p.TopK},
		{"top_p", p.TopP != nil, p.TopP},
	}
	pins := make([]pin, len(fields))
	for i, f := range fields {
		pins[i].name = f.name
		if !f.set {
			continue
		}
		value, err := canon.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("pin %s: %w", f.name, err)
		}
		pins[i].value = value
	}
	return pins, nil
}

// samplingNames are the members that a sampling record has, always all of them.
var samplingNames = []string{
	"frequency_penalty", "logit_bias", maxCompletionTokens, maxTokens, "model",
	"presence_penalty", "repetition_penalty", "seed", "temperature", "top_k", "top_p",
}

// samplingOf returns what a request says of sampling as canonical JSON: each of
// samplingNames with its value, or "unset" if it is absent or null. A value that
// has no canonical form (an integer that a double can't hold) stands as a string
// of its JSON text.
func samplingOf(members []member) jsontext.Value {
	record := make(map[string]any, len(samplingNames))
	for _, name := range samplingNames {
		record[name] = unset
	}
	for _, m := range members {
		if _, ok := record[m.name]; !ok || m.value.Kind() == 'n' {
			continue
		}
		record[m.name] = string(m.value)
		if value, err := canon.Marshal(m.value); err == nil {
			record[m.name] = jsontext.Value(value)
		}
	}
	return mustCanonical(record)
}

// mustCanonical is canon.Marshal of what is known to have a canonical form:
// valid UTF-8, integers below 2^53, values that went through canon before.
func mustCanonical(v any) []byte {
	b, err := canon.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("gateway: %v", err))
	}
	return b
}
