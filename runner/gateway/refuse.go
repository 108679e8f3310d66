package gateway

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// refusedMembers are requests for what the provider would do on its own: look
// something up, run a tool, or answer with another model than the pinned one.
var refusedMembers = map[string]string{
	"web_search_options": "a hosted tool",         // OpenAI
	"search_parameters":  "a hosted tool",         // xAI
	"enable_search":      "a hosted tool",         // DashScope
	"plugins":            "hosted tools",          // OpenRouter
	"models":             "a choice of the model", // OpenRouter: falls back to the next one
}

// readMembers are members that the gateway acts on besides the pinned ones.
var readMembers = []string{"messages", "n", "stream", "stream_options", "tools"}

// refuse says which part of a request must not reach a provider, or nil.
func refuse(list []member) *apiError {
	for _, m := range list {
		if err := refuseMember(m); err != nil {
			return err
		}
	}
	if n := find(list, "n"); n != nil && !isOneOrNull(n) {
		return refused("n must be 1: one request has one answer")
	}
	if err := refuseTools(find(list, "tools")); err != nil {
		return err
	}
	if messages := find(list, "messages"); messages != nil {
		return refuseRemote(jsontext.NewDecoder(bytes.NewBuffer(messages)), "messages")
	}
	return nil
}

func refuseMember(m member) *apiError {
	for name, what := range refusedMembers {
		if strings.EqualFold(m.name, name) && m.value.Kind() != 'n' {
			return refused(fmt.Sprintf("%s asks for %s, which this gateway does not pass on", name, what))
		}
	}
	// A server that compares names regardless of case, as many written in Go do,
	// would take "Temperature" for the pinned temperature.
	for _, name := range slices.Concat(samplingNames, readMembers) {
		if m.name != name && strings.EqualFold(m.name, name) {
			return malformed(fmt.Sprintf("%s is not spelled in lower case", name))
		}
	}
	return nil
}

func isOneOrNull(value jsontext.Value) bool {
	n, err := strconv.ParseFloat(string(value), 64)
	return value.Kind() == 'n' || value.Kind() == '0' && err == nil && n == 1
}

// refuseTools lets tools through that the agent runs itself: functions.
func refuseTools(value jsontext.Value) *apiError {
	var tools []map[string]jsontext.Value
	if value != nil && json.Unmarshal(value, &tools) != nil {
		return malformed("tools is not a list of objects")
	}
	for i, tool := range tools {
		isFunction := false
		for name, value := range tool {
			if !strings.EqualFold(name, "type") {
				continue
			}
			if kind, err := jsontext.AppendUnquote(nil, value); err != nil || name != "type" || string(kind) != "function" {
				return refused(fmt.Sprintf("tools[%d] is not of type function: hosted tools are not passed on", i))
			}
			isFunction = true
		}
		if !isFunction {
			return refused(fmt.Sprintf("tools[%d] has no type: only type function is passed on", i))
		}
	}
	return nil
}

// refuseRemote looks through the value that dec is at for what a provider would
// go and get. name is the nearest member's. dec reads what was parsed before.
func refuseRemote(dec *jsontext.Decoder, name string) *apiError {
	switch dec.PeekKind() {
	case '{':
		skip(dec)
		for dec.PeekKind() != '}' {
			if err := refuseRemote(dec, readString(dec)); err != nil {
				return err
			}
		}
		skip(dec)
	case '[':
		skip(dec)
		for dec.PeekKind() != ']' {
			if err := refuseRemote(dec, name); err != nil {
				return err
			}
		}
		skip(dec)
	case '"':
		if value := readString(dec); isRemote(strings.ToLower(name), value) {
			return refused(fmt.Sprintf("%s is not in the request itself: only data: URLs are passed on", name))
		}
	default:
		skip(dec)
	}
	return nil
}

// isRemote reports whether a string member of a message refers to something
// outside of the request. Text may say what it likes; it is not looked at here.
func isRemote(name, value string) bool {
	switch {
	case name == "url", strings.HasSuffix(name, "_url"):
		return !strings.HasPrefix(value, "data:")
	case name == "file_id":
		return true
	case name == "data", name == "file_data":
		// Base64 has no colon, so this is a URL given in the place of content.
		return strings.Contains(value, "://") && !strings.HasPrefix(value, "data:")
	default:
		return false
	}
}

// skip and readString take the next token of text that is known to be valid.
func skip(dec *jsontext.Decoder) {
	if _, err := dec.ReadToken(); err != nil {
		panic(fmt.Sprintf("gateway: JSON read before does not read again: %v", err))
	}
}

func readString(dec *jsontext.Decoder) string {
	token, err := dec.ReadToken()
	if err != nil {
		panic(fmt.Sprintf("gateway: JSON read before does not read again: %v", err))
	}
	return token.String()
}
