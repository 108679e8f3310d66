package gateway

import "net/http"

// apiError is an error of the gateway's own, in the form that OpenAI's clients
// read. Its status is one that they don't retry: to ask again would change
// nothing but the transcript.
type apiError struct {
	status  int
	code    string
	message string
}

// Codes of the gateway's own errors.
const (
	codeNotFound   = "litmus_not_found"
	codeMalformed  = "litmus_malformed_request"
	codeTooLarge   = "litmus_request_too_large"
	codeRefused    = "litmus_refused"
	codeTurnLimit  = "litmus_turn_limit"
	codeTokenLimit = "litmus_token_limit"
	codeRecordFull = "litmus_record_full"
	codeUpstream   = "litmus_upstream_error"
)

func malformed(message string) *apiError {
	return &apiError{http.StatusBadRequest, codeMalformed, message}
}

func refused(message string) *apiError {
	return &apiError{http.StatusBadRequest, codeRefused, message}
}

// body is canonical JSON, so that equal errors are equal bytes.
func (e *apiError) body() []byte {
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Type    string `json:"type"`
	}
	return mustCanonical(map[string]detail{"error": {e.code, e.message, "litmus_gateway"}})
}
