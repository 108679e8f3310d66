package mutation

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"litmus/internal/strictyaml"
)

// Sampling says, of each parameter that shapes what a model answers, that it is
// pinned to a value or that requests go without it. Every parameter stands in its
// canonical form, so that two runs that pin differently never look alike.
type Sampling struct {
	FrequencyPenalty  Pinned[float64]            `json:"frequency_penalty"`
	LogitBias         Pinned[map[string]float64] `json:"logit_bias"`
	MaxTokens         Pinned[int64]              `json:"max_tokens"`
	PresencePenalty   Pinned[float64]            `json:"presence_penalty"`
	RepetitionPenalty Pinned[float64]            `json:"repetition_penalty"`
	Seed              Pinned[int64]              `json:"seed"`
	Temperature       Pinned[float64]            `json:"temperature"`
	TopK              Pinned[int64]              `json:"top_k"`
	TopP              Pinned[float64]            `json:"top_p"`
}

// unset is how a parameter without a value is written.
const unset = "unset"

// Pinned is a value, or "unset" where Value is nil.
type Pinned[T any] struct{ Value *T }

// MarshalJSON writes the value or "unset".
func (p Pinned[T]) MarshalJSON() ([]byte, error) {
	if p.Value == nil {
		return json.Marshal(unset)
	}
	return json.Marshal(*p.Value)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Pinned[T]) UnmarshalJSON(b []byte) error {
	if string(b) == `"`+unset+`"` {
		*p = Pinned[T]{}
		return nil
	}
	if string(b) == "null" {
		return fmt.Errorf("null is no value; write %q", unset)
	}
	p.Value = new(T)
	return json.Unmarshal(b, p.Value)
}

// readSampling reads the sampling of a suite: what it does not name is unset.
func readSampling(n strictyaml.Node) Sampling {
	m := n.Mapping(nil, []string{
		"temperature", "top_p", "top_k", "max_tokens", "presence_penalty",
		"frequency_penalty", "repetition_penalty", "logit_bias", "seed",
	})
	return Sampling{
		FrequencyPenalty:  readPinned(m.Get("frequency_penalty"), strictyaml.Node.Number),
		LogitBias:         readPinned(m.Get("logit_bias"), readBiases),
		MaxTokens:         readPinned(m.Get("max_tokens"), strictyaml.Node.Integer),
		PresencePenalty:   readPinned(m.Get("presence_penalty"), strictyaml.Node.Number),
		RepetitionPenalty: readPinned(m.Get("repetition_penalty"), strictyaml.Node.Number),
		Seed:              readPinned(m.Get("seed"), strictyaml.Node.Integer),
		Temperature:       readPinned(m.Get("temperature"), strictyaml.Node.Number),
		TopK:              readPinned(m.Get("top_k"), strictyaml.Node.Integer),
		TopP:              readPinned(m.Get("top_p"), strictyaml.Node.Number),
	}
}

func readPinned[T any](n strictyaml.Node, read func(strictyaml.Node) T) Pinned[T] {
	if n.Absent() || n.QuietText() == unset {
		return Pinned[T]{}
	}
	value := read(n)
	return Pinned[T]{&value}
}

func readBiases(n strictyaml.Node) map[string]float64 {
	biases := map[string]float64{}
	for _, member := range n.Members() {
		biases[member.Name] = member.Value.Number()
	}
	return biases
}
