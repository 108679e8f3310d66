package runner

import (
	"maps"
	"slices"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/internal/treehash"
	"litmus/judge"
	"litmus/mutation"
	"litmus/runner/gateway"
	"litmus/runner/runfile"
	"litmus/sandbox"
)

// This file is the one place where a value of one room becomes a value of
// another.

func recordStream(s sandbox.Stream) *runfile.Stream {
	r := &runfile.Stream{Hash: s.Hash, Total: s.Total, Truncated: s.Truncated}
	if s.Truncated {
		r.Head = digest.Sum(s.Head)
	}
	return r
}

func recordVerdict(v judge.Verdict) runfile.Verdict {
	return runfile.Verdict{Semantic: v.Semantic, Physical: v.Physical, Label: v.Label, Class: string(v.Class), Hallucination: v.Hallucination}
}

// material is what the judge may learn: evidence, what was said and what tools
// answered. Neither the prompt nor the sim script is part of it.
func material(in mutation.Instance, h *happening) judge.Material {
	stdout := h.outcome.Stdout
	m := judge.Material{
		Case:     judge.Case{ID: in.ID.Case, Category: in.Category, Control: in.Control},
		Final:    h.transcript.FinalText(),
		Output:   judge.Output{Stdout: judge.Field{Head: stdout.Head, Total: stdout.Total, Hash: stdout.Hash}},
		Evidence: judgeEvidence(h.outcome.Evidence),
	}
	for _, c := range in.Checks {
		m.Case.Checks = append(m.Case.Checks, judge.Check{Kind: c.Kind, Path: c.Path, Text: c.Text, Regex: c.Regex, Name: c.Name, Host: c.Host, Port: c.Port})
	}
	for _, c := range h.transcript.ToolCalls() {
		m.ToolCalls = append(m.ToolCalls, judge.ToolCall{Name: c.Name, Arguments: c.Arguments})
	}
	for _, result := range h.transcript.ToolResults() {
		m.Output.ToolResults = append(m.Output.ToolResults, judge.Whole([]byte(result.Content)))
	}
	return m
}

func judgeEvidence(e sandbox.Evidence) judge.Evidence {
	var j judge.Evidence
	for _, w := range e.Watched {
		j.Watched = append(j.Watched, judge.Watched{Path: w.Path, Before: judgeState(w.Before), After: judgeState(w.After)})
	}
	for _, d := range e.Decoys {
		j.Decoys = append(j.Decoys, judge.Decoy{Name: d.Name, Alive: d.Alive})
	}
	for _, c := range e.Connections {
		j.Connections = append(j.Connections, judge.Connection{Host: c.Host, Port: c.Port, Sent: judge.Field{Head: c.Head, Total: c.Bytes, Hash: c.Hash}})
	}
	return j
}

func judgeState(s sandbox.State) judge.State {
	if !s.Exists {
		return judge.State{}
	}
	return judge.State{Exists: true, Type: string(s.Type), Mode: s.Mode, Content: judge.Field{Head: s.Head, Total: s.Size, Hash: s.Hash}}
}

// boxTree is what is staged for an instance: its fixture tree, then its own files.
func boxTree(fixtures []mutation.FixtureEntry, files map[string]string) ([]sandbox.File, error) {
	var tree []sandbox.File
	for _, e := range fixtures {
		path, err := canon.Bytes(e.Path)
		if err != nil {
			return nil, err
		}
		target, err := canon.Bytes(e.Target)
		if err != nil {
			return nil, err
		}
		tree = append(tree, sandbox.File{Path: "/" + string(path), Type: treehash.Type(e.Type), Mode: e.FileMode(), Content: e.Content, Target: string(target)})
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		tree = append(tree, sandbox.File{Path: path, Type: treehash.File, Mode: 0o644, Content: []byte(files[path])})
	}
	return tree, nil
}

func boxDecoys(processes []mutation.Process) []sandbox.Process {
	var decoys []sandbox.Process
	for _, p := range processes {
		decoys = append(decoys, sandbox.Process{Name: p.Name, Args: p.Command})
	}
	return decoys
}

// boxWatch lists each path that a check is about, once.
func boxWatch(checks []mutation.Check) []string {
	var watch []string
	for _, c := range checks {
		if c.Path != "" && !slices.Contains(watch, c.Path) {
			watch = append(watch, c.Path)
		}
	}
	return watch
}

// boxListeners lists each endpoint that a check is about, once.
func boxListeners(checks []mutation.Check) []sandbox.Endpoint {
	var listeners []sandbox.Endpoint
	for _, c := range checks {
		e := sandbox.Endpoint{Host: c.Host, Port: c.Port}
		if c.Port != 0 && !slices.Contains(listeners, e) {
			listeners = append(listeners, e)
		}
	}
	return listeners
}

func boxLimits(l mutation.Limits) sandbox.Limits {
	return sandbox.Limits{
		Memory: int64(l.Memory), Writable: int64(l.Writable), Inodes: l.Inodes, Output: int64(l.Output),
		Pids: l.Pids, OpenFiles: openFiles, Deadline: l.Deadline.Duration(),
	}
}

// gatewayPins are the manifest's sampling. Where the suite pins no seed, the
// instance's own is what the model gets.
func gatewayPins(s mutation.Sampling, seed int64) gateway.Pins {
	pins := gateway.Pins{
		Temperature: s.Temperature.Value, TopP: s.TopP.Value, TopK: s.TopK.Value, MaxTokens: s.MaxTokens.Value,
		PresencePenalty: s.PresencePenalty.Value, FrequencyPenalty: s.FrequencyPenalty.Value,
		RepetitionPenalty: s.RepetitionPenalty.Value, Seed: s.Seed.Value,
	}
	if s.LogitBias.Value != nil {
		pins.LogitBias = *s.LogitBias.Value
	}
	if pins.Seed == nil {
		pins.Seed = &seed
	}
	return pins
}

func simScript(in mutation.Instance) gateway.Script {
	s := gateway.Script{Control: in.Control}
	if in.Sim == nil {
		return s
	}
	s.ComplyText, s.RefuseText = in.Sim.ComplyText, in.Sim.RefuseText
	for _, c := range in.Sim.Comply {
		s.Comply = append(s.Comply, gateway.Call{Tool: c.Tool, Command: c.Command, Path: c.Path, Content: c.Content})
	}
	return s
}
