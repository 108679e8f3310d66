package gateway

import (
	"fmt"
	"slices"

	"litmus/internal/digest"

	"github.com/go-json-experiment/json/jsontext"
)

// TranscriptVersion names the canonical form of a transcript and everything that
// decides what is in one: pins, refusals, limits, order.
const TranscriptVersion = "litmus-transcript/1"

// Transcript is every exchange of one attempt, in order.
type Transcript struct {
	Exchanges []Exchange
	// Limit is the limit that was reached, LimitNone if none was.
	Limit Limit
}

// Limit is what ended a conversation from outside.
type Limit string

const (
	LimitNone   Limit = ""
	LimitTurns  Limit = "turns"
	LimitTokens Limit = "tokens"
	// LimitRecord says that the agent's requests no longer fit into a record:
	// the first that did not is the last one recorded.
	LimitRecord Limit = "record"
)

// Outcome is what came of a request.
type Outcome string

const (
	// Answered by the upstream, with a completion or with an error of the provider's.
	Answered Outcome = "answered"
	// Listed is a list of models, answered by the gateway.
	Listed Outcome = "listed"
	// Refused by the gateway, because of what the request is.
	Refused Outcome = "refused"
	// Limited: refused because of what came before.
	Limited Outcome = "limited"
	// Broken: the upstream gave no whole answer. The attempt can't be scored.
	Broken Outcome = "broken"
)

// Exchange is one request of the agent and what came of it.
type Exchange struct {
	// Seq counts from 0.
	Seq int
	// Method and Path are the request line's, the path in the text form of canon.Text.
	Method, Path string
	// Request is the body as the agent sent it, and Effective the one that went
	// to the upstream, nil if none did. Response is the body that the agent got.
	Request, Effective, Response []byte
	// Status and ContentType are those of the response.
	Status      int
	ContentType string
	Streamed    bool
	// RequestedSampling and EffectiveSampling are canonical JSON, nil where there
	// is no such request.
	RequestedSampling, EffectiveSampling jsontext.Value
	// Model and Fingerprint are the provider's own.
	Model, Fingerprint string
	Usage              Usage
	Outcome            Outcome
	// Err says in words why the outcome is not Answered or Listed.
	Err string
	// Retries of the upstream's. A fact of the day, no part of the canonical form.
	Retries int
}

// described is what the canonical form says of an exchange besides its bytes.
type described struct {
	Seq               int            `json:"seq"`
	Method            string         `json:"method"`
	Path              string         `json:"path"`
	Outcome           Outcome        `json:"outcome"`
	Status            int            `json:"status"`
	ContentType       string         `json:"content_type,omitempty"`
	Streamed          bool           `json:"streamed"`
	RequestedSampling jsontext.Value `json:"requested_sampling,omitempty"`
	EffectiveSampling jsontext.Value `json:"effective_sampling,omitempty"`
	Model             string         `json:"model,omitempty"`
	Fingerprint       string         `json:"system_fingerprint,omitempty"`
	Usage             describedUsage `json:"usage"`
}

type describedUsage struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Estimated  bool  `json:"estimated"`
}

func (e *Exchange) described() described {
	return described{
		Seq: e.Seq, Method: e.Method, Path: e.Path, Outcome: e.Outcome,
		Status: e.Status, ContentType: e.ContentType, Streamed: e.Streamed,
		RequestedSampling: e.RequestedSampling, EffectiveSampling: e.EffectiveSampling,
		Model: e.Model, Fingerprint: e.Fingerprint, Usage: describedUsage(e.Usage),
	}
}

// Meta returns everything about the exchange but its bytes as canonical JSON,
// facts of the day included.
func (e *Exchange) Meta() []byte {
	return mustCanonical(struct {
		described
		Err     string `json:"error,omitempty"`
		Retries int    `json:"retries"`
	}{e.described(), e.Err, e.Retries})
}

// Canonical returns the canonical form, in which bytes stand as hashes. put
// keeps the bytes and returns their hash; it is called once for each body that
// is not empty, in order.
func (t Transcript) Canonical(put func([]byte) digest.Hash) []byte {
	type canonical struct {
		described
		Request   digest.Hash `json:"request,omitzero"`
		Effective digest.Hash `json:"effective,omitzero"`
		Response  digest.Hash `json:"response,omitzero"`
	}
	hash := func(body []byte) digest.Hash {
		if len(body) == 0 {
			return digest.Hash{}
		}
		return put(body)
	}
	list := make([]canonical, len(t.Exchanges))
	for i := range t.Exchanges {
		e := &t.Exchanges[i]
		list[i] = canonical{e.described(), hash(e.Request), hash(e.Effective), hash(e.Response)}
	}
	return mustCanonical(struct {
		Format    string      `json:"format"`
		Exchanges []canonical `json:"exchanges"`
		Limit     Limit       `json:"limit,omitempty"`
	}{TranscriptVersion, list, t.Limit})
}

// BrokenError says which exchange got no whole answer.
type BrokenError struct {
	Seq    int
	Reason string
}

func (e *BrokenError) Error() string { return fmt.Sprintf("exchange %d: %s", e.Seq, e.Reason) }

// Err returns a *BrokenError for the first broken exchange, or nil. A transcript
// with one is not what the agent would have had of a model, and can't be scored.
func (t Transcript) Err() error {
	i := slices.IndexFunc(t.Exchanges, func(e Exchange) bool { return e.Outcome == Broken })
	if i < 0 {
		return nil
	}
	return &BrokenError{t.Exchanges[i].Seq, t.Exchanges[i].Err}
}
