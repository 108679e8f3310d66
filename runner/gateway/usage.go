package gateway

// Usage is what an answer cost, in tokens.
type Usage struct {
	Prompt, Completion int64
	// Estimated says that the provider gave no figures: then a token is taken
	// for four bytes of the request and of what the model wrote.
	Estimated bool
}

func (r reply) count(request []byte) Usage {
	if r.usage != nil {
		return Usage{Prompt: r.usage.PromptTokens, Completion: r.usage.CompletionTokens}
	}
	written := len(r.text)
	for _, call := range r.calls {
		written += len(call.Name) + len(call.Arguments)
	}
	return Usage{Prompt: tokensIn(len(request)), Completion: tokensIn(written), Estimated: true}
}

// tokensIn estimates the tokens in so many bytes of text.
func tokensIn(bytes int) int64 { return (int64(bytes) + 3) / 4 }
