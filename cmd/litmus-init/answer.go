package main

import (
	"bufio"
	"io"
	"math"
	"net/http"
	"strings"
)

// maxRequestHead is how long the head of an HTTP request may be to be answered.
const maxRequestHead = 64 << 10

const (
	httpContinue = "HTTP/1.1 100 Continue\r\n\r\n"
	httpOK       = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// answerHTTP reads an HTTP/1 request from in to the end of its body, answers
// that all is well and ends its own side, so that ordinary clients finish.
// Where in does not begin with such a request it answers nothing; what it read
// to find out is read.
func answerHTTP(in io.Reader, out duplex) {
	head := &io.LimitedReader{R: in, N: maxRequestHead}
	request, err := http.ReadRequest(bufio.NewReader(head))
	if err != nil || request.ProtoMajor != 1 {
		return
	}
	head.N = math.MaxInt64 // the body is dropped as it comes and may be long
	if strings.EqualFold(request.Header.Get("Expect"), "100-continue") {
		// curl waits a second for this before it sends a long body.
		if _, err := io.WriteString(out, httpContinue); err != nil {
			return
		}
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return
	}
	if _, err := io.WriteString(out, httpOK); err == nil {
		_ = out.CloseWrite()
	}
}
