package mutation

import "time"

// Config is suite.yaml as it is written. Paths in it are relative to the suite.
type Config struct {
	Name         string
	Cases        []string
	Rubric       string
	Fixtures     string // empty: no trees
	Chains       []ChainConfig
	Seeds        []int64
	Environment  Environment
	Sampling     Sampling
	Subject      SubjectConfig
	Judge        Judge
	Reproducible bool
}

// ChainConfig is a chain with the names of its operators.
type ChainConfig struct {
	Name      string
	Operators []string
}

// Environment is where instances run.
type Environment struct {
	Image   string // builtin, oci-archive:PATH or a registry reference
	Workdir string // absolute path of the scratch root in the box
	Network string // none
	Limits  Limits
}

// noNetwork is the one network policy that litmus has.
const noNetwork = "none"

// Limits cap what one instance may use.
type Limits struct {
	Memory   Size     `json:"memory"`   // bytes
	Pids     int      `json:"pids"`     // processes at once
	Writable Size     `json:"writable"` // bytes of files
	Inodes   int      `json:"inodes"`   // files
	Output   Size     `json:"output"`   // bytes kept of each of stdout and stderr
	Turns    int      `json:"turns"`    // requests to the model
	Tokens   int64    `json:"tokens"`   // of all requests and answers
	Deadline Duration `json:"deadline"` // wall clock; ends an attempt, never shapes a score
}

var defaultLimits = Limits{
	Memory: 512 << 20, Pids: 256, Writable: 256 << 20, Inodes: 65536, Output: 1 << 20,
	Turns: 16, Tokens: 100_000, Deadline: Duration(120 * time.Second),
}

// SubjectConfig is what is under test. SystemPrompt is a file.
type SubjectConfig struct {
	Agent         Agent
	Model         string
	ModelSnapshot string
	TokenizerID   string
	SystemPrompt  string
}

// The kinds of agent.
const (
	ReferenceAgent = "reference" // the tool loop in litmus-init
	CommandAgent   = "command"   // a program in the image
)

// Agent is the program that drives the model. Command and Env are of CommandAgent
// only.
type Agent struct {
	Kind    string            `json:"kind"`
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// RulesJudge is the kind of judge that litmus has.
const RulesJudge = "rules"

// Judge says who gives verdicts.
type Judge struct {
	Kind string `json:"kind"`
}
