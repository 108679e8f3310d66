package mutation

import (
	"regexp"
	"strings"
)

// chainName is what a chain may be called: it stands in instance ids.
var chainName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// parseConfig reads suite.yaml; name is what errors call the file.
func parseConfig(name string, text []byte) (Config, error) {
	root := parseYAML(name, text)
	if root.file.err != nil {
		return Config{}, root.file.err
	}
	c := readConfig(root)
	if root.file.err != nil {
		return Config{}, root.file.err
	}
	return c, nil
}

func readConfig(root yamlNode) Config {
	m := root.mapping(
		[]string{"name", "cases", "rubric", "chains", "seeds", "subject"},
		[]string{"fixtures", "operators", "environment", "sampling", "judge", "reproducible"})
	if n := m.get("operators"); len(n.list()) > 0 {
		n.fault("built-in operators need no entry here: "+orderedNames(builtins), "operators of your own are not supported yet")
	}
	return Config{
		Name:         m.get("name").plainText(),
		Cases:        readCaseFiles(m.get("cases")),
		Rubric:       m.get("rubric").path(),
		Fixtures:     m.get("fixtures").path(),
		Chains:       readChains(m.get("chains")),
		Seeds:        readSeeds(m.get("seeds")),
		Environment:  readEnvironment(m.get("environment")),
		Sampling:     readSampling(m.get("sampling")),
		Subject:      readSubject(m.get("subject")),
		Judge:        readJudge(m.get("judge")),
		Reproducible: m.get("reproducible").flagOr(true),
	}
}

func readCaseFiles(n yamlNode) []string {
	var files []string
	for _, entry := range n.list() {
		files = append(files, entry.path())
	}
	if len(files) == 0 {
		n.fault("as in cases: [cases.jsonl]", "no file is named")
	}
	distinct(n.list(), files)
	return files
}

func readChains(n yamlNode) []ChainConfig {
	var chains []ChainConfig
	var names []string
	for _, entry := range n.list() {
		m := entry.mapping([]string{"name"}, []string{"operators"})
		chain := ChainConfig{Name: m.get("name").text(), Operators: m.get("operators").texts()}
		if !chainName.MatchString(chain.Name) {
			m.get("name").fault("a chain's name has letters, digits, dots, hyphens and underscores only", "%q can't stand in the id of an instance", chain.Name)
		}
		for i, operator := range m.get("operators").list() {
			if _, known := builtins[chain.Operators[i]]; !known {
				operator.fault("there are: "+orderedNames(builtins), "unknown operator %q", chain.Operators[i])
			}
		}
		chains, names = append(chains, chain), append(names, chain.Name)
	}
	if len(chains) == 0 {
		n.fault("as in chains: [{name: plain}]", "no chain is named")
	}
	distinct(n.list(), names)
	return chains
}

func readSeeds(n yamlNode) []int64 {
	var seeds []int64
	for _, entry := range n.list() {
		seeds = append(seeds, entry.integer())
	}
	if len(seeds) == 0 {
		n.fault("as in seeds: [1, 2]", "no seed is given")
	}
	distinct(n.list(), seeds)
	return seeds
}

func readEnvironment(n yamlNode) Environment {
	m := n.mapping(nil, []string{"image", "workdir", "network", "limits"})
	e := Environment{
		Image:   m.get("image").textOr("builtin"),
		Workdir: m.get("workdir").textOr("/scratch"),
		Network: m.get("network").textOr(noNetwork),
		Limits:  readLimits(m.get("limits")),
	}
	if err := checkStaged(e.Workdir); err != nil {
		m.get("workdir").fault("as in workdir: /scratch", "%v", err)
	}
	if e.Network != noNetwork {
		m.get("network").fault("write network: none", "%q is not supported: a box reaches its own loopback and the model, nothing else", e.Network)
	}
	return e
}

func readLimits(n yamlNode) Limits {
	m := n.mapping(nil, []string{"memory", "pids", "writable", "inodes", "output", "turns", "tokens", "deadline"})
	const most = 1 << 31 // what fits into an int anywhere, and is no limit in practice
	return Limits{
		Memory:   m.get("memory").sizeOr(defaultLimits.Memory),
		Pids:     int(m.get("pids").countOr(int64(defaultLimits.Pids), most)),
		Writable: m.get("writable").sizeOr(defaultLimits.Writable),
		Inodes:   int(m.get("inodes").countOr(int64(defaultLimits.Inodes), most)),
		Output:   m.get("output").sizeOr(defaultLimits.Output),
		Turns:    int(m.get("turns").countOr(int64(defaultLimits.Turns), most)),
		Tokens:   m.get("tokens").countOr(defaultLimits.Tokens, maxSafeInteger),
		Deadline: m.get("deadline").durationOr(defaultLimits.Deadline),
	}
}

func readSubject(n yamlNode) SubjectConfig {
	m := n.mapping([]string{"model", "model_snapshot"}, []string{"agent", "tokenizer_id", "system_prompt"})
	return SubjectConfig{
		Agent:         readAgent(m.get("agent")),
		Model:         m.get("model").plainText(),
		ModelSnapshot: m.get("model_snapshot").plainText(),
		TokenizerID:   m.get("tokenizer_id").textOr("none"),
		SystemPrompt:  m.get("system_prompt").path(),
	}
}

func readAgent(n yamlNode) Agent {
	if n.absent() {
		return Agent{Kind: ReferenceAgent}
	}
	m := n.mapping([]string{"kind"}, []string{"command", "env"})
	agent := Agent{Kind: m.get("kind").text(), Command: m.get("command").texts(), Env: m.get("env").textMap()}
	switch agent.Kind {
	case ReferenceAgent:
		for _, name := range []string{"command", "env"} {
			if !m.get(name).absent() {
				m.get(name).fault("remove it, or write kind: command", "the reference agent takes none")
			}
		}
	case CommandAgent:
		if len(agent.Command) == 0 {
			n.fault("as in command: [/usr/bin/agent, --once]", "an agent of kind command needs a command")
		}
		for _, member := range m.get("env").members() {
			if strings.ContainsAny(member.name, "=\x00") || strings.Contains(agent.Env[member.name], "\x00") {
				member.value.fault("", "%q can't be a variable of the environment", member.name)
			}
		}
	default:
		m.get("kind").fault("write reference or command", "unknown kind of agent %q", agent.Kind)
	}
	return agent
}

func readJudge(n yamlNode) Judge {
	if n.absent() {
		return Judge{Kind: RulesJudge}
	}
	kind := n.kindOf()
	if kind.text() != RulesJudge {
		kind.fault("write judge: {kind: rules}", "the judge %q is not supported; rules is", kind.text())
	}
	n.mapping([]string{"kind"}, nil)
	return Judge{Kind: RulesJudge}
}

// kindOf looks up kind alone, so that an unsupported kind is named as such and not
// by the first of its fields.
func (n yamlNode) kindOf() yamlNode {
	for _, member := range n.members() {
		if member.name == "kind" {
			return member.value
		}
	}
	n.fault("as in {kind: rules}", "the field \"kind\" is missing")
	return n
}
