package mutation

import (
	"errors"
	"testing"
	"time"

	"litmus/internal/inputerror"
)

// minimalYAML leaves out everything that has a default.
const minimalYAML = `name: m
cases: [cases.jsonl]
rubric: rubric.yaml
chains: [{name: plain}]
seeds: [7]
subject: {model: openai/x, model_snapshot: x-2026-01-01}
`

func TestConfigDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	c, err := parseConfig("suite.yaml", []byte(minimalYAML))
	if err != nil {
		t.Fatal(err)
	}
	l := c.Environment.Limits
	if l.Memory != 512<<20 || l.Pids != 256 || l.Writable != 256<<20 || l.Inodes != 65536 || l.Output != 1<<20 ||
		l.Turns != 16 || l.Tokens != 100000 || l.Deadline.Duration() != 2*time.Minute {
		t.Errorf("limits: %+v", l)
	}
	if e := c.Environment; e.Image != "builtin" || e.Workdir != "/scratch" || e.Network != "none" {
		t.Errorf("environment: %+v", e)
	}
	if c.Subject.Agent.Kind != ReferenceAgent || c.Subject.TokenizerID != "none" || c.Judge.Kind != RulesJudge || !c.Reproducible {
		t.Errorf("config: %+v", c)
	}
	if s := c.Sampling; s != (Sampling{}) {
		t.Errorf("sampling is not unset: %+v", s)
	}
}

func TestConfigReadsEachSetting(t *testing.T) {
	c, err := parseConfig("suite.yaml", []byte(minimalYAML+`fixtures: trees
reproducible: false
environment: {image: "oci-archive:agent.tar", workdir: /w, limits: {memory: 1GiB, output: 100B, deadline: 10m}}
sampling: {temperature: 0.7, top_k: 40, logit_bias: {"50256": -100}, seed: unset, frequency_penalty: -1.5}
`))
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Environment; c.Fixtures != "trees" || c.Reproducible || e.Image != "oci-archive:agent.tar" || e.Workdir != "/w" {
		t.Errorf("config: %+v", c)
	}
	if l := c.Environment.Limits; l.Memory != 1<<30 || l.Output != 100 || l.Deadline.Duration() != 10*time.Minute || l.Pids != 256 {
		t.Errorf("limits: %+v", l)
	}
	s := c.Sampling
	if *s.Temperature.Value != 0.7 || *s.TopK.Value != 40 || (*s.LogitBias.Value)["50256"] != -100 || s.Seed.Value != nil || *s.FrequencyPenalty.Value != -1.5 {
		t.Errorf("sampling: %+v", s)
	}
}

func TestConfigReadsACommandAgent(t *testing.T) {
	text := minimalYAML[:len(minimalYAML)-2] + ", agent: {kind: command, command: [/bin/agent, -v], env: {MODE: once, EMPTY: \"\"}}}\n"
	c, err := parseConfig("suite.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Subject.Agent
	if a.Kind != CommandAgent || len(a.Command) != 2 || a.Env["MODE"] != "once" || len(a.Env) != 2 {
		t.Errorf("agent: %+v", a)
	}
}

// Each bad suite is the sample with one thing changed.
func TestConfigComplainsWithTheLineAndTheField(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"an unknown field", "judge:", "jugde:", `suite.yaml:23: jugde: unknown field`},
		{"an unknown field in depth", "pids: 256", "pid: 256", `suite.yaml:14: environment.limits.pid: unknown field`},
		{"a field twice", "seeds: [1, 2]", "name: again\nseeds: [1, 2]", `suite.yaml:9: "name" is here twice; first on line 1`},
		{"a field that is missing", "rubric: rubric.yaml\n", "", `suite.yaml:1: the field "rubric" is missing`},
		{"a text that is a number", "name: sample", "name: 12", `suite.yaml:1: name: this must be text`},
		{"a size without a unit", "memory: 512MiB", "memory: 512", `suite.yaml:14: environment.limits.memory: this must be a size above 0`},
		{"a size in the other units", "memory: 512MiB", "memory: 512MB", `suite.yaml:14: environment.limits.memory: this must be a size above 0`},
		{"a size of nothing", "memory: 512MiB", "memory: 0MiB", `suite.yaml:14: environment.limits.memory: this must be a size above 0`},
		{"a limit below one", "turns: 16", "turns: 0", `suite.yaml:15: environment.limits.turns: this must be a whole number from 1 to 2147483648`},
		{"a limit in hexadecimal", "turns: 16", "turns: 0x10", `suite.yaml:15: environment.limits.turns: "0x10" is not a whole number that JSON can hold exactly`},
		{"a duration without a unit", "deadline: 120s", "deadline: 120", `suite.yaml:15: environment.limits.deadline: this must be a duration of one second to 24 hours`},
		{"a duration of nothing", "deadline: 120s", "deadline: 1ms", `suite.yaml:15: environment.limits.deadline: this must be a duration of one second to 24 hours`},
		{"a network", "network: none", "network: host", `suite.yaml:13: environment.network: "host" is not supported: a box reaches its own loopback and the model, nothing else`},
		{"a scratch root that is not absolute", "workdir: /scratch", "workdir: scratch", `suite.yaml:12: environment.workdir: "scratch" is not an absolute path below / without . and .. in it`},
		{"a scratch root in the box's own", "workdir: /scratch", "workdir: /proc/x", `suite.yaml:12: environment.workdir: /proc belongs to the box itself`},
		{"another judge", "judge: {kind: rules}", "judge: {kind: model, model: m}", `suite.yaml:23: judge.kind: the judge "model" is not supported; rules is`},
		{"an agent of no kind we know", "agent: {kind: reference}", "agent: {kind: magic}", `suite.yaml:18: subject.agent.kind: unknown kind of agent "magic"`},
		{"a command for the reference agent", "agent: {kind: reference}", "agent: {kind: reference, command: [x]}", `suite.yaml:18: subject.agent.command: the reference agent takes none`},
		{"a command agent without command", "agent: {kind: reference}", "agent: {kind: command}", `suite.yaml:18: subject.agent: an agent of kind command needs a command`},
		{"operators of one's own", "chains:", "operators: [operators/x.star]\nchains:", `suite.yaml:5: operators: operators of your own are not supported yet`},
		{"an unknown operator", "operators: [base64]", "operators: [base65]", `suite.yaml:7: chains[1].operators[0]: unknown operator "base65"`},
		{"a chain twice", "name: b64", "name: plain", `suite.yaml:7: chains[1]: plain is here twice; first as chains[0] on line 6`},
		{"a chain whose name has a slash", "name: b64", "name: b/64", `suite.yaml:7: chains[1].name: "b/64" can't stand in the id of an instance`},
		{"no seeds", "seeds: [1, 2]", "seeds: []", `suite.yaml:9: seeds: no seed is given`},
		{"a seed twice", "seeds: [1, 2]", "seeds: [1, 2, 1]", `suite.yaml:9: seeds[2]: 1 is here twice; first as seeds[0] on line 9`},
		{"a seed that JSON would round", "seeds: [1, 2]", "seeds: [9007199254740993]", `suite.yaml:9: seeds[0]: "9007199254740993" is not a whole number that JSON can hold exactly`},
		{"a seed that is a text", "seeds: [1, 2]", "seeds: ['1']", `suite.yaml:9: seeds[0]: this must be a whole number`},
		{"a temperature that is not a number", "temperature: 0,", "temperature: .nan,", `suite.yaml:16: sampling.temperature: this must be a number`},
		{"a sampling parameter that we don't know", "temperature: 0,", "temprature: 0,", `suite.yaml:16: sampling.temprature: unknown field`},
		{"a file outside of the suite", "rubric: rubric.yaml", "rubric: ../rubric.yaml", `suite.yaml:3: rubric: "../rubric.yaml" lies outside of the suite`},
		{"a case file twice", "[cases.jsonl]", "[cases.jsonl, cases.jsonl]", `suite.yaml:2: cases[1]: cases.jsonl is here twice; first as cases[0] on line 2`},
		{"a mapping where a list should be", "seeds: [1, 2]", "seeds: {a: 1}", `suite.yaml:9: seeds: this must be a list`},
		{"a flag that is a text", "judge:", "reproducible: 'yes'\njudge:", `suite.yaml:23: reproducible: this must be true or false`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sample().with("suite.yaml", tt.old, tt.new).complaint(t); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestConfigIsOneDocument(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       "",
		"a comment":     "# nothing\n",
		"two documents": minimalYAML + "---\n" + minimalYAML,
		"a list":        "[1]",
		"not YAML":      "a: [",
	} {
		_, err := parseConfig("suite.yaml", []byte(text))
		var bad *inputerror.Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v, want an *inputerror.Error", name, err)
		}
	}
}

func TestRubricNeedsAVersion(t *testing.T) {
	got := sample().with("rubric.yaml", "version: 3\n", "").complaint(t)
	if want := `rubric.yaml:1: version: the field "version" is missing`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzConfigNeverPanicsAndNamesAPlace(f *testing.F) {
	f.Add(sampleYAML)
	f.Add(minimalYAML)
	f.Add("a: &a [*a]")
	f.Add("? [x]\n: y")
	f.Add("<<: {name: x}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("suite.yaml", []byte(text))
		if err == nil {
			if len(c.Chains) == 0 || len(c.Seeds) == 0 || len(c.Cases) == 0 || c.Name == "" || c.Environment.Limits.Memory < 1 {
				t.Fatalf("accepted without something that is required: %+v", c)
			}
			return
		}
		var bad *inputerror.Error
		if !errors.As(err, &bad) || bad.File != "suite.yaml" || bad.Msg == "" {
			t.Fatalf("%T %v", err, err)
		}
	})
}
