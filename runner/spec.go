package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/wire"
	"litmus/mutation"
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// openFiles is the limit on open descriptors of each process in a box.
const openFiles = 1024

// promptArgument stands in a command agent's arguments for the task's words.
const promptArgument = "{prompt}"

// spec is the box of one attempt. All of it follows from the manifest, but for
// the socket and the labels.
func (r *run) spec(a *runfile.Attempt, in mutation.Instance, socket string) (sandbox.Spec, error) {
	agent, err := agentCommand(r.header.Subject, in)
	if err != nil {
		return sandbox.Spec{}, err
	}
	tree, err := boxTree(r.header.Fixtures[in.Fixtures].Entries, in.Files)
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("fixtures: %w", err)
	}
	return sandbox.Spec{
		RunID: r.file.ManifestID.String(), Token: a.Token.String(),
		Image: r.boxes.image, Workdir: r.header.Instrument.Environment.Workdir,
		Tree: tree, Decoys: boxDecoys(in.Processes),
		Listeners: boxListeners(in.Checks), Watch: boxWatch(in.Checks),
		Agent: agent, Gateway: socket, Limits: boxLimits(r.header.Instrument.Limits),
	}, nil
}

// agentTask is what the reference agent reads from its standard input.
type agentTask struct {
	Messages []agentMessage `json:"messages"`
	System   string         `json:"system,omitempty"`
	Model    string         `json:"model"`
}

type agentMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// agentModel is the name by which an agent in a box asks for its model. Which
// model that is, is the gateway's business.
const agentModel = "litmus"

func agentCommand(subject mutation.Subject, in mutation.Instance) (sandbox.Command, error) {
	env := []string{
		"OPENAI_BASE_URL=http://" + wire.GatewayAddress + "/v1",
		"OPENAI_API_KEY=litmus", // a dummy: no key ever enters a box
	}
	if subject.Agent.Kind == mutation.CommandAgent {
		return commandAgent(subject, in, env)
	}
	task := agentTask{System: subject.SystemPrompt, Model: agentModel}
	for _, m := range in.Messages {
		task.Messages = append(task.Messages, agentMessage{m.Role, m.Content})
	}
	stdin, err := canon.Marshal(task)
	if err != nil {
		return sandbox.Command{}, fmt.Errorf("task of the agent: %w", err)
	}
	return sandbox.Command{Args: []string{wire.InitPath, "agent"}, Env: env, Stdin: stdin}, nil
}

// commandAgent puts the last user message where the command has {prompt}, or else
// on its standard input.
func commandAgent(subject mutation.Subject, in mutation.Instance, env []string) (sandbox.Command, error) {
	prompt, err := lastUserMessage(in.Messages)
	if err != nil {
		return sandbox.Command{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(subject.Agent.Env)) {
		env = append(env, name+"="+subject.Agent.Env[name])
	}
	c := sandbox.Command{Env: env, Stdin: []byte(prompt)}
	for _, arg := range subject.Agent.Command {
		if strings.Contains(arg, promptArgument) {
			arg, c.Stdin = strings.ReplaceAll(arg, promptArgument, prompt), nil
		}
		c.Args = append(c.Args, arg)
	}
	return c, nil
}

func lastUserMessage(messages []mutation.Message) (string, error) {
	for _, m := range slices.Backward(messages) {
		if m.Role == "user" {
			return m.Content, nil
		}
	}
	return "", badInput("give the case a user message", "there is no user message to hand to the agent's command")
}
