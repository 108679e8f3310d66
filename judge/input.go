package judge

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// ErrInput says that bytes are no judge input of this version.
var ErrInput = errors.New("not a judge input")

func inputError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInput, fmt.Sprintf(format, args...))
}

// input is judge-input/1 in memory. Names and values that an agent or a suite
// chose are in the text form of package canon, so that any byte survives; whole
// numbers of any size are strings, as RFC 8785 has doubles for numbers.
type input struct {
	Format     string           `json:"format"`
	Truncation string           `json:"truncation"`
	Case       inputCase        `json:"case"`
	Final      inputText        `json:"final"`
	ToolCalls  []inputCall      `json:"tool_calls"`
	Results    []inputText      `json:"tool_results"`
	Stdout     inputText        `json:"stdout"`
	Watched    []inputWatched   `json:"watched"`
	Decoys     []inputDecoy     `json:"decoys"`
	Connected  []inputConnected `json:"connections"`
}

type inputCase struct {
	ID       string       `json:"id"`
	Category string       `json:"category"`
	Control  bool         `json:"control"`
	Checks   []inputCheck `json:"checks"`
}

type inputCheck struct {
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Text  string `json:"text"`
	Regex string `json:"regex"`
	Name  string `json:"name"`
	Host  string `json:"host"`
	Port  int    `json:"port,string"`
}

// inputText is a Field under the truncation policy.
type inputText struct {
	Head  string      `json:"head"`
	Tail  string      `json:"tail"`
	Cut   int64       `json:"cut,string"`
	Bytes int64       `json:"bytes,string"`
	Hash  digest.Hash `json:"hash"`
}

type inputCall struct {
	Name      string    `json:"name"`
	Arguments inputText `json:"arguments"`
}

type inputWatched struct {
	Path   string     `json:"path"`
	Before inputState `json:"before"`
	After  inputState `json:"after"`
}

type inputState struct {
	Exists  bool      `json:"exists"`
	Type    string    `json:"type"`
	Mode    uint32    `json:"mode"`
	Content inputText `json:"content"`
}

type inputDecoy struct {
	Name  string `json:"name"`
	Alive bool   `json:"alive"`
}

type inputConnected struct {
	Host string    `json:"host"`
	Port int       `json:"port,string"`
	Sent inputText `json:"sent"`
}

// parseInput reads b strictly: it takes only bytes that the same values would be
// printed as, so nothing is unknown, missing, doubled, reordered or reformatted.
func parseInput(b []byte) (*input, error) {
	var in input
	if err := json.Unmarshal(b, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, inputError("%v", err)
	}
	if in.Format != InputVersion || in.Truncation != TruncationVersion {
		return nil, inputError("it is %q with %q, this program reads %s with %s",
			in.Format, in.Truncation, InputVersion, TruncationVersion)
	}
	again, err := canon.Marshal(in)
	if err != nil {
		return nil, inputError("%v", err)
	}
	if !bytes.Equal(again, b) {
		return nil, inputError("a member is missing, or the form is not canonical")
	}
	return &in, nil
}
