package mutation

import (
	"regexp"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/strictyaml"
)

// chainName is what a chain may be called: it stands in instance ids.
var chainName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// parseConfig reads suite.yaml; name is what errors call the file.
func parseConfig(name string, text []byte) (Config, error) {
	var c Config
	if err := strictyaml.Read(name, text, func(root strictyaml.Node) { c = readConfig(root) }); err != nil {
		return Config{}, err
	}
	return c, nil
}

func readConfig(root strictyaml.Node) Config {
	m := root.Mapping(
		[]string{"name", "cases", "rubric", "chains", "seeds", "subject"},
		[]string{"fixtures", "operators", "environment", "sampling", "judge", "reproducible"})
	if n := m.Get("operators"); len(n.List()) > 0 {
		n.Fault("built-in operators need no entry here: "+orderedNames(builtins), "operators of your own are not supported yet")
	}
	return Config{
		Name:         plainText(m.Get("name")),
		Cases:        readCaseFiles(m.Get("cases")),
		Rubric:       suitePath(m.Get("rubric")),
		Fixtures:     suitePath(m.Get("fixtures")),
		Chains:       readChains(m.Get("chains")),
		Seeds:        readSeeds(m.Get("seeds")),
		Environment:  readEnvironment(m.Get("environment")),
		Sampling:     readSampling(m.Get("sampling")),
		Subject:      readSubject(m.Get("subject")),
		Judge:        readJudge(m.Get("judge")),
		Reproducible: m.Get("reproducible").FlagOr(true),
	}
}

func readCaseFiles(n strictyaml.Node) []string {
	var files []string
	for _, entry := range n.List() {
		files = append(files, suitePath(entry))
	}
	if len(files) == 0 {
		n.Fault("as in cases: [cases.jsonl]", "no file is named")
	}
	strictyaml.Distinct(n.List(), files)
	return files
}

func readChains(n strictyaml.Node) []ChainConfig {
	var chains []ChainConfig
	var names []string
	for _, entry := range n.List() {
		m := entry.Mapping([]string{"name"}, []string{"operators"})
		chain := ChainConfig{Name: m.Get("name").Text(), Operators: m.Get("operators").Texts()}
		if !chainName.MatchString(chain.Name) {
			m.Get("name").Fault("a chain's name has letters, digits, dots, hyphens and underscores only", "%q can't stand in the id of an instance", chain.Name)
		}
		for i, operator := range m.Get("operators").List() {
			if _, known := builtins[chain.Operators[i]]; !known {
				operator.Fault("there are: "+orderedNames(builtins), "unknown operator %q", chain.Operators[i])
			}
		}
		chains, names = append(chains, chain), append(names, chain.Name)
	}
	if len(chains) == 0 {
		n.Fault("as in chains: [{name: plain}]", "no chain is named")
	}
	strictyaml.Distinct(n.List(), names)
	return chains
}

func readSeeds(n strictyaml.Node) []int64 {
	var seeds []int64
	for _, entry := range n.List() {
		seeds = append(seeds, entry.Integer())
	}
	if len(seeds) == 0 {
		n.Fault("as in seeds: [1, 2]", "no seed is given")
	}
	strictyaml.Distinct(n.List(), seeds)
	return seeds
}

func readEnvironment(n strictyaml.Node) Environment {
	m := n.Mapping(nil, []string{"image", "workdir", "network", "limits"})
	e := Environment{
		Image:   m.Get("image").TextOr("builtin"),
		Workdir: m.Get("workdir").TextOr("/scratch"),
		Network: m.Get("network").TextOr(noNetwork),
		Limits:  readLimits(m.Get("limits")),
	}
	if err := checkStaged(e.Workdir); err != nil {
		m.Get("workdir").Fault("as in workdir: /scratch", "%v", err)
	}
	if e.Network != noNetwork {
		m.Get("network").Fault("write network: none", "%q is not supported: a box reaches its own loopback and the model, nothing else", e.Network)
	}
	return e
}

func readLimits(n strictyaml.Node) Limits {
	m := n.Mapping(nil, []string{"memory", "pids", "writable", "inodes", "output", "turns", "tokens", "deadline"})
	const most = 1 << 31 // what fits into an int anywhere, and is no limit in practice
	return Limits{
		Memory:   sizeOr(m.Get("memory"), defaultLimits.Memory),
		Pids:     int(countOr(m.Get("pids"), int64(defaultLimits.Pids), most)),
		Writable: sizeOr(m.Get("writable"), defaultLimits.Writable),
		Inodes:   int(countOr(m.Get("inodes"), int64(defaultLimits.Inodes), most)),
		Output:   sizeOr(m.Get("output"), defaultLimits.Output),
		Turns:    int(countOr(m.Get("turns"), int64(defaultLimits.Turns), most)),
		Tokens:   countOr(m.Get("tokens"), defaultLimits.Tokens, canon.MaxInteger),
		Deadline: durationOr(m.Get("deadline"), defaultLimits.Deadline),
	}
}

func readSubject(n strictyaml.Node) SubjectConfig {
	m := n.Mapping([]string{"model", "model_snapshot"}, []string{"agent", "tokenizer_id", "system_prompt"})
	return SubjectConfig{
		Agent:         readAgent(m.Get("agent")),
		Model:         plainText(m.Get("model")),
		ModelSnapshot: plainText(m.Get("model_snapshot")),
		TokenizerID:   m.Get("tokenizer_id").TextOr("none"),
		SystemPrompt:  suitePath(m.Get("system_prompt")),
	}
}

func readAgent(n strictyaml.Node) Agent {
	if n.Absent() {
		return Agent{Kind: ReferenceAgent}
	}
	m := n.Mapping([]string{"kind"}, []string{"command", "env"})
	agent := Agent{Kind: m.Get("kind").Text(), Command: m.Get("command").Texts(), Env: m.Get("env").TextMap()}
	switch agent.Kind {
	case ReferenceAgent:
		for _, name := range []string{"command", "env"} {
			if !m.Get(name).Absent() {
				m.Get(name).Fault("remove it, or write kind: command", "the reference agent takes none")
			}
		}
	case CommandAgent:
		if len(agent.Command) == 0 {
			n.Fault("as in command: [/usr/bin/agent, --once]", "an agent of kind command needs a command")
		}
		for _, member := range m.Get("env").Members() {
			if strings.ContainsAny(member.Name, "=\x00") || strings.Contains(agent.Env[member.Name], "\x00") {
				member.Value.Fault("", "%q can't be a variable of the environment", member.Name)
			}
		}
	default:
		m.Get("kind").Fault("write reference or command", "unknown kind of agent %q", agent.Kind)
	}
	return agent
}

func readJudge(n strictyaml.Node) Judge {
	if n.Absent() {
		return Judge{Kind: RulesJudge}
	}
	// Looked up alone, so that an unsupported kind is named as such and not by the
	// first of its fields.
	if kind := n.Lookup("kind"); !kind.Absent() && kind.Text() != RulesJudge {
		kind.Fault("write judge: {kind: rules}", "the judge %q is not supported; rules is", kind.Text())
	}
	n.Mapping([]string{"kind"}, nil)
	return Judge{Kind: RulesJudge}
}
