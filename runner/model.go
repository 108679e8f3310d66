package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"litmus/mutation"
	"litmus/runner/gateway"
)

// Upstream says where real models are. The key goes into requests to
// OpenAIBaseURL and nowhere else.
type Upstream struct {
	OpenAIBaseURL, OpenAIKey string
	Client                   *http.Client
}

const (
	simPrefix    = "sim:"
	openAIPrefix = "openai/"
)

// modelTries bounds how often one call of a model is sent.
const modelTries = 8

func isSimulated(model string) bool { return strings.HasPrefix(model, simPrefix) }

// defaultSnapshot is what the manifest says of a model that --model named without
// a snapshot.
func defaultSnapshot(model string) string {
	if isSimulated(model) {
		return gateway.SimSnapshot
	}
	return strings.TrimPrefix(model, openAIPrefix)
}

// checkModel refuses a name that no upstream serves.
func checkModel(model string) error {
	if isSimulated(model) {
		if err := gateway.CheckSim(model); err != nil {
			return badInput("choose one of them, as in --model sim:guarded", "%v", err)
		}
		return nil
	}
	if name, ok := strings.CutPrefix(model, openAIPrefix); !ok || name == "" {
		return badInput("for example sim:guarded, or openai/NAME for a server that speaks the OpenAI format", "model %q: no upstream serves it", model)
	}
	return nil
}

// upstream is where the answers of one instance come from, and the name of the
// model there.
func (r *run) upstream(in mutation.Instance) (gateway.Upstream, string, error) {
	model := r.header.Subject.Model
	if isSimulated(model) {
		sim, err := gateway.NewSim(model, simScript(in))
		if err != nil {
			return nil, "", fmt.Errorf("simulated model: %w", err)
		}
		return sim, model, nil
	}
	server, err := gateway.NewOpenAI(gateway.OpenAIConfig{
		BaseURL: r.opts.Upstream.OpenAIBaseURL, Key: r.opts.Upstream.OpenAIKey, Client: r.opts.Upstream.Client,
		Wait: wait, Jitter: rand.Float64, Tries: modelTries,
	})
	if err != nil {
		return nil, "", badInput("set OPENAI_BASE_URL", "%v", err)
	}
	return server, strings.TrimPrefix(model, openAIPrefix), nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
