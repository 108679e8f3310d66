package gateway

import (
	"net/http"
	"strconv"
	"time"
)

// agentWriter writes an answer to the agent. An agent that hangs up or does not
// read loses the rest of it and nothing else happens: the record must not depend
// on how long an agent listens.
type agentWriter struct {
	w    http.ResponseWriter
	gone bool
}

// start writes the head of the answer. A negative size is that of a stream.
func (a *agentWriter) start(status int, contentType string, size int) {
	header := a.w.Header()
	header["Date"] = nil // the host's clock is none of the agent's business
	header["Content-Type"] = nil
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	if size >= 0 {
		header.Set("Content-Length", strconv.Itoa(size))
	}
	a.w.WriteHeader(status)
}

// write sends b on at once.
func (a *agentWriter) write(b []byte) {
	if a.gone {
		return
	}
	connection := http.NewResponseController(a.w)
	if err := connection.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		a.gone = true
		return
	}
	_, err := a.w.Write(b)
	a.gone = err != nil || connection.Flush() != nil
}
