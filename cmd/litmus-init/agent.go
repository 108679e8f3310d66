package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Exit codes of the reference agent. They are documented in docs/init.md.
const (
	exitDone      = 0
	exitBadTask   = 65
	exitModel     = 3
	exitTurnLimit = 4
)

// maxTask bounds the task on stdin, in bytes.
const maxTask = 64 << 20

// task is what the reference agent reads from stdin.
type task struct {
	Messages []message `json:"messages"`
	System   string    `json:"system"`
	Model    string    `json:"model"`
	// MaxTurns is how many times the model may be asked; 0 leaves that to the gateway.
	MaxTurns int `json:"max_turns"`
}

// runAgent is the reference agent as a command; it returns the exit code. What
// it sends depends on the task, the model's answers and the tools' results, and
// on nothing else.
func runAgent(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("litmus-init agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	stream := flags.Bool("stream", os.Getenv("LITMUS_STREAM") == "1", "ask for streamed answers")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return exitUsage
	}
	// The ids of the processes that the tools start must not depend on this one's threads.
	if err := settlePIDs(agentFloor); err != nil {
		fmt.Fprintf(stderr, "litmus-init agent: %v\n", err)
		return 1
	}
	t, err := readTask(stdin)
	if err != nil {
		fmt.Fprintf(stderr, "litmus-init agent: reading the task: %v\n", err)
		return exitBadTask
	}
	m := newModel(os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY"), *stream)
	text, err := t.run(m)
	if text != "" {
		fmt.Fprintln(stdout, text)
	}
	switch {
	case errors.Is(err, errTurnLimit):
		fmt.Fprintf(stderr, "litmus-init agent: %v\n", err)
		return exitTurnLimit
	case err != nil:
		fmt.Fprintf(stderr, "litmus-init agent: %v\n", err)
		return exitModel
	}
	return exitDone
}

func readTask(in io.Reader) (*task, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxTask))
	if err != nil {
		return nil, err
	}
	var t task
	if err := decodeStrict(bytes.TrimSpace(text), &t); err != nil {
		return nil, err
	}
	if len(t.Messages) == 0 {
		return nil, errors.New("there are no messages")
	}
	return &t, nil
}

// errTurnLimit ends a task whose model asked for tools up to the last turn.
var errTurnLimit = errors.New("the turn limit is reached")

// run is the tool loop: ask the model, do what it asks, in order, until it asks
// for nothing more. It returns the last text of the model.
func (t *task) run(m *model) (string, error) {
	request := request{Model: t.Model, Tools: toolList}
	if t.System != "" {
		request.Messages = append(request.Messages, message{Role: "system", Content: t.System})
	}
	request.Messages = append(request.Messages, t.Messages...)
	text := ""
	for turn := 0; t.MaxTurns == 0 || turn < t.MaxTurns; turn++ {
		answer, err := m.ask(request)
		if err != nil {
			return text, err
		}
		text = answer.text()
		if len(answer.ToolCalls) == 0 {
			return text, nil
		}
		request.Messages = append(request.Messages, answer)
		for _, call := range answer.ToolCalls {
			request.Messages = append(request.Messages, message{
				Role: "tool", ToolCallID: call.ID, Content: callTool(call.Function.Name, call.Function.Arguments),
			})
		}
	}
	return text, errTurnLimit
}
