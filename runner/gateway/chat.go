package gateway

import (
	"errors"
	"io"
	"net/http"

	"litmus/internal/canon"
)

// chat answers a Chat Completions request. It reports whether the agent's answer
// is whole: false asks for its connection to be cut.
func (g *Gateway) chat(w http.ResponseWriter, e *Exchange) bool {
	request, refusal := parseChat(e.Request)
	if refusal != nil {
		e.reject(w, Refused, refusal)
		return true
	}
	e.RequestedSampling = samplingOf(request.members)
	if limit := g.limit(); limit != nil {
		e.reject(w, Limited, limit)
		return true
	}
	if err := g.transcript.Err(); err != nil {
		// The attempt can't be scored any more; there is nothing to be gained.
		e.fail(w, errors.New("an earlier exchange broke"))
		return true
	}
	e.Effective = edit(e.Request, request.members, g.pins)
	effective, err := members(e.Effective)
	if err != nil {
		e.fail(w, errors.New("the edited request is malformed"))
		return true
	}
	e.EffectiveSampling = samplingOf(effective)
	return g.ask(w, e, request.stream)
}

// limit says which limit has been reached, if any, and notes it.
func (g *Gateway) limit() *apiError {
	switch {
	case g.turns >= g.config.MaxTurns:
		g.transcript.Limit = LimitTurns
		return &apiError{http.StatusBadRequest, codeTurnLimit, "this conversation has used all its turns"}
	case g.tokens >= g.config.MaxTokens:
		g.transcript.Limit = LimitTokens
		return &apiError{http.StatusBadRequest, codeTokenLimit, "this conversation has used all its tokens"}
	default:
		return nil
	}
}

// ask has the upstream answer and relays the answer.
func (g *Gateway) ask(w http.ResponseWriter, e *Exchange, stream bool) bool {
	response, err := g.config.Upstream.Send(g.ctx, Request{Body: e.Effective, Stream: stream, IdempotencyKey: g.idempotencyKey(e)})
	if err != nil {
		e.fail(w, err)
		return true
	}
	defer response.Body.Close()
	e.Retries = response.Retries
	if isEventStream(response.ContentType) {
		return g.relayStream(w, e, response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		e.fail(w, errors.New("the upstream's answer broke off"))
		return true
	}
	if err := g.account(e, response, body); err != nil {
		e.fail(w, err)
		return true
	}
	e.respond(w, Answered, response.Status, response.ContentType, body)
	return true
}

// relayStream passes a stream on as it comes. What has been passed on can't be
// taken back: if the stream turns out not to be whole, the agent's breaks too.
func (g *Gateway) relayStream(w http.ResponseWriter, e *Exchange, response *Response) bool {
	e.Status, e.ContentType, e.Streamed = response.Status, canon.Text([]byte(response.ContentType)), true
	out := agentWriter{w: w}
	out.start(response.Status, response.ContentType, -1)
	buffer := make([]byte, 32<<10)
	for {
		n, err := response.Body.Read(buffer)
		e.Response = append(e.Response, buffer[:n]...)
		out.write(buffer[:n])
		if err == nil && len(e.Response) <= maxResponse {
			continue
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = g.account(e, response, e.Response)
		} else {
			err = errors.New("the upstream's stream broke off")
		}
		if err != nil {
			e.Outcome, e.Err = Broken, err.Error()
			return false
		}
		e.Outcome = Answered
		return true
	}
}

// account counts a whole answer against the limits, or says why it is not one.
// An error status is an answer as well, but no completion.
func (g *Gateway) account(e *Exchange, response *Response, body []byte) error {
	if len(body) > maxResponse {
		return errors.New("the upstream's answer is too large")
	}
	if response.Status == http.StatusOK {
		reply, err := parseReply(response.ContentType, body)
		if err != nil {
			return err
		}
		e.Model, e.Fingerprint = reply.model, reply.fingerprint
		e.Usage = reply.count(e.Effective)
	}
	g.turns++
	g.tokens += e.Usage.Prompt + e.Usage.Completion
	return nil
}

// fail ends an exchange to which the upstream gave no whole answer, before any
// of one was passed on.
func (e *Exchange) fail(w http.ResponseWriter, err error) {
	e.reject(w, Broken, &apiError{http.StatusFailedDependency, codeUpstream, "the model could not be reached"})
	e.Err = err.Error()
}
