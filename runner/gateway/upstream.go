package gateway

import (
	"context"
	"io"
)

// Upstream is where answers come from. Implementations: OpenAI, Sim.
type Upstream interface {
	// Send returns the model's answer to one request. A Response is an answer
	// that the agent may see, whatever its status; an error says that there is
	// none, and its text holds no secret.
	Send(context.Context, Request) (*Response, error)
}

// Request is one call of the model.
type Request struct {
	// Body is the effective request. An upstream sends exactly these bytes, in a
	// retry too.
	Body []byte
	// Stream says that the body asks for a stream.
	Stream bool
	// IdempotencyKey is the same for every retry of this call and for no other call.
	IdempotencyKey string
}

// Response is an answer under way. The caller closes Body; an error in reading
// it means that the answer broke off.
type Response struct {
	Status      int
	ContentType string
	Body        io.ReadCloser
	// Retries counts the tries before the one that was answered.
	Retries int
}
