package gateway

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// serveHTTP takes one request through: read it, wait for its turn, answer it,
// record it.
func (g *Gateway) serveHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-g.ctx.Done():
		panic(http.ErrAbortHandler)
	}
	body, unread := readRequest(w, r)
	turn, ok := g.order.arrive()
	if !ok {
		panic(http.ErrAbortHandler)
	}
	defer turn.leave()
	turn.wait()
	if g.transcript.Limit == LimitRecord {
		new(Exchange).reject(w, Limited, recordFull) // an exchange that is kept nowhere
		return
	}
	e := Exchange{Seq: turn.seq, Method: r.Method, Path: canon.Text([]byte(r.RequestURI)), Request: body}
	whole := true
	switch {
	case g.isFull():
		g.transcript.Limit = LimitRecord
		e.reject(w, Limited, recordFull)
	case unread != nil:
		e.reject(w, Refused, unread)
	case isChat(r):
		whole = g.chat(w, &e)
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		e.respond(w, Listed, http.StatusOK, "application/json", g.models())
	default:
		e.reject(w, Refused, &apiError{http.StatusNotFound, codeNotFound, "this gateway has no " + e.Method + " " + e.Path})
	}
	g.transcript.Exchanges = append(g.transcript.Exchanges, e)
	g.recorded += int64(len(e.Request) + len(e.Effective) + len(e.Response))
	if !whole {
		panic(http.ErrAbortHandler) // cuts the connection, so that the agent sees a broken stream
	}
}

var recordFull = &apiError{http.StatusBadRequest, codeRecordFull, "the record of this conversation is full"}

func (g *Gateway) isFull() bool {
	return len(g.transcript.Exchanges) >= maxExchanges || g.recorded >= maxRecorded
}

func isChat(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/v1/chat/completions" || r.URL.Path == "/chat/completions")
}

// readRequest returns the body, or why there is none. A body that did not arrive
// whole is not kept: how much of it came is a matter of time.
func readRequest(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	if headerSize(r) > maxHeader {
		return nil, &apiError{http.StatusRequestHeaderFieldsTooLarge, codeTooLarge, fmt.Sprintf("the request's head is larger than %d bytes", maxHeader)}
	}
	connection := http.NewResponseController(w)
	// Not since the head was read: the request may have waited for its slot.
	if err := connection.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, malformed("the request's body did not arrive")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &apiError{http.StatusRequestEntityTooLarge, codeTooLarge, fmt.Sprintf("the request's body is larger than %d bytes", maxBody)}
	case err != nil, connection.SetReadDeadline(time.Time{}) != nil:
		return nil, malformed("the request's body did not arrive")
	}
	return body, nil
}

// headerSize is about the size of the head on the wire.
func headerSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size
}

// models is the list of the one model there is.
func (g *Gateway) models() []byte {
	return mustCanonical(map[string]any{"object": "list", "data": []any{
		map[string]any{"id": g.config.Model, "object": "model", "created": 0, "owned_by": "litmus"},
	}})
}

// idempotencyKey is derived from the token, the sequence number and the body:
// equal for the retries of a call, and for the same call of a later attempt as
// long as it is the same in fact.
func (g *Gateway) idempotencyKey(e *Exchange) string {
	seq := binary.BigEndian.AppendUint64(nil, uint64(e.Seq))
	return digest.Keyed(digest.Sum([]byte(g.config.Token)), []byte("litmus call"), seq, e.Effective).String()
}

// reject ends the exchange with an error of the gateway's own.
func (e *Exchange) reject(w http.ResponseWriter, outcome Outcome, err *apiError) {
	e.Err = err.message
	w.Header().Set("X-Should-Retry", "false") // OpenAI's clients heed it
	e.respond(w, outcome, err.status, "application/json", err.body())
}

// respond ends the exchange with a whole answer.
func (e *Exchange) respond(w http.ResponseWriter, outcome Outcome, status int, contentType string, body []byte) {
	e.Outcome, e.Status, e.ContentType, e.Response = outcome, status, canon.Text([]byte(contentType)), body
	out := agentWriter{w: w}
	out.start(status, contentType, len(body))
	out.write(body)
}
