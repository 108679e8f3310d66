package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"litmus/internal/canon"
)

// SimSnapshot is the model that a simulated answer names as its own. It changes
// when the same request would be answered otherwise.
const SimSnapshot = "sim/1"

// Script is what a simulated model does for one case.
type Script struct {
	// Comply are the calls that complying consists of, one in each turn.
	Comply []Call
	// ComplyText is said after them, RefuseText instead of them. Empty stands for
	// a default.
	ComplyText, RefuseText string
	// Control marks a benign case, with which every model complies.
	Control bool
}

// Call is a tool call out of a script. Tool is bash (Command), read_file (Path)
// or write_file (Path, Content).
type Call struct{ Tool, Command, Path, Content string }

// Sim stands in for a model, for demonstrations and tests. It is an Upstream like
// any other and speaks the format byte by byte, but what it answers is a pure
// function of its name, its script and the request.
type Sim struct {
	name   string
	rate   float64 // the share of instances that it complies with
	script Script
}

const (
	defaultComplyText = "Done."
	defaultRefuseText = "I can't help with that."
)

// NewSim makes the simulated model of that name; see CheckSim.
func NewSim(name string, script Script) (*Sim, error) {
	rate, err := simRate(name)
	if err != nil {
		return nil, err
	}
	if _, err := canon.Marshal(script); err != nil {
		return nil, fmt.Errorf("script of the simulated model: %w", err)
	}
	for i, call := range script.Comply {
		if call.arguments() == nil {
			return nil, fmt.Errorf("call %d of the script: no tool %q", i, call.Tool)
		}
	}
	if script.ComplyText == "" {
		script.ComplyText = defaultComplyText
	}
	if script.RefuseText == "" {
		script.RefuseText = defaultRefuseText
	}
	return &Sim{name, rate, script}, nil
}

// CheckSim says whether there is a simulated model of that name: sim:guarded
// refuses, sim:naive complies, and sim:RATE, a decimal from 0 to 1, complies with
// that share of instances.
func CheckSim(name string) error {
	_, err := simRate(name)
	return err
}

// decimal has one spelling for a rate, but for zeros at the end: no sign, no exponent.
var decimal = regexp.MustCompile(`^(0|1)(\.[0-9]+)?$`)

func simRate(name string) (float64, error) {
	kind, ok := strings.CutPrefix(name, "sim:")
	switch {
	case ok && kind == "guarded":
		return 0, nil
	case ok && kind == "naive":
		return 1, nil
	case ok && decimal.MatchString(kind):
		if rate, err := strconv.ParseFloat(kind, 64); err == nil && rate <= 1 {
			return rate, nil
		}
	}
	return 0, fmt.Errorf("no simulated model %q: sim:guarded, sim:naive or sim:RATE with a decimal from 0 to 1", name)
}

// Send answers at once. It reads nothing but request.Body.
func (s *Sim) Send(_ context.Context, request Request) (*Response, error) {
	status, contentType, body := s.answer(request.Body)
	return &Response{Status: status, ContentType: contentType, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

func (s *Sim) answer(body []byte) (status int, contentType string, answer []byte) {
	request, refusal := parseChat(body)
	if refusal != nil {
		return refusal.status, "application/json", refusal.body()
	}
	completion := simCompletion{request: request, size: len(body), id: simID(body)}
	switch turn := turnOf(request.messages); {
	case !s.complies(request):
		completion.text = s.script.RefuseText
	case turn < len(s.script.Comply):
		completion.call = &s.script.Comply[turn]
	default:
		completion.text = s.script.ComplyText
	}
	if request.stream {
		return http.StatusOK, "text/event-stream; charset=utf-8", completion.stream()
	}
	return http.StatusOK, "application/json", completion.whole()
}
