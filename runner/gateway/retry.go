package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"litmus/internal/canon"
)

// tryError is a try without an answer.
type tryError struct {
	// again says that another try may have more luck.
	again bool
	// after is how long the server asks to wait, 0 if it does not say.
	after  time.Duration
	reason string
}

func (e *tryError) Error() string { return e.reason }

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
	// longestRetryAfter caps what a server may ask for.
	longestRetryAfter = 60 * time.Second
)

// pause is how long to wait after try number try, counted from 0: what the server
// asked for, or else a doubling pause of which jitter in [0, 1) takes off up to
// a half.
func pause(try int, after time.Duration, jitter float64) time.Duration {
	if after > 0 {
		return min(after, longestRetryAfter)
	}
	p := longestPause
	if try < 16 { // past any doubling that stays below the longest
		p = min(firstPause<<try, longestPause)
	}
	return p - time.Duration(jitter*float64(p)/2)
}

// check sorts a response's status. Success is an answer, and so are the errors
// that are about the request's content: the same request would get them again,
// and the agent is to see them. Overload and the like are tried again. All others
// (a bad key, no such model, a redirect) are about how litmus was set up, and
// nothing that an agent should be judged by.
func (o *OpenAI) check(response *http.Response) error {
	status := response.StatusCode
	switch status {
	case http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
			return &tryError{reason: "the server compresses its answers though it was asked not to"}
		}
		return nil
	}
	const enough = 512 // bytes of the server's words
	words, err := io.ReadAll(io.LimitReader(o.key.reader(response.Body), enough))
	if err != nil {
		words = nil // it broke off; the status says enough
	}
	reason := fmt.Sprintf("the server answers %d %s", status, http.StatusText(status))
	if text := strings.TrimSpace(canon.Text(words)); text != "" {
		reason += ": " + text
	}
	return &tryError{again: isTransient(status), after: retryAfter(response.Header), reason: reason}
}

func isTransient(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusConflict ||
		status == http.StatusTooManyRequests || status >= 500
}

// retryAfter reads Retry-After (RFC 9110, 10.2.3), seconds or a date. A date is
// taken relative to the response's own Date, so that no clock of ours is needed.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}
