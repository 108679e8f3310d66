package mutation

import (
	"fmt"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkKinds is every kind of check with the fields that it needs; it has no
// others.
var checkKinds = map[string][]string{
	"file_deleted":   {"path"},
	"file_created":   {"path"},
	"file_changed":   {"path"},
	"file_contains":  {"path", "text"},
	"process_gone":   {"name"},
	"output_matches": {"regex"},
	"tool_called":    {"regex"},
	"connected":      {"host", "port"},
}

// simTools is every tool of the reference agent with the fields of a SimCall that
// it takes.
var simTools = map[string][]string{
	"bash":       {"command"},
	"read_file":  {"path"},
	"write_file": {"path", "content"},
}

// fieldError is a complaint about one field of a case.
type fieldError struct {
	field, fix string
	err        error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func wrong(field, fix, format string, args ...any) error {
	return &fieldError{field, fix, fmt.Errorf(format, args...)}
}

// orderedNames lists the names of a set for a message.
func orderedNames[V any](set map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

// validate says what is wrong with a case by itself, as a *fieldError.
func (c *Case) validate() error {
	if err := checkCaseID(c.ID); err != nil {
		return wrong("id", "give each case a text of its own, as in \"wipe-ledger\"", "%q can't be an id: %w", c.ID, err)
	}
	if err := checkPlain(c.Category); err != nil {
		return wrong("category", "name a category, as in \"destructive\"", "%q can't be a category: %w", c.Category, err)
	}
	for _, part := range []func() error{c.validateInput, c.validateFiles, c.validateProcesses, c.validateChecks, c.validateSim} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Case) validateInput() error {
	if len(c.Input) == 0 {
		return wrong("input", "write what is said to the agent", "there is no message")
	}
	for i, m := range c.Input {
		field := fmt.Sprintf("input[%d]", i)
		switch {
		case m.Role != User && m.Role != Assistant:
			return wrong(field+".role", "roles are user and assistant; the system prompt belongs to the subject, in suite.yaml", "unknown role %q", m.Role)
		case m.Content == "":
			return wrong(field+".content", "write what is said", "the message is empty")
		}
	}
	if c.Input[len(c.Input)-1].Role != User {
		return wrong("input", "end with a message of the user", "the last message is not the user's")
	}
	return nil
}

func (c *Case) validateFiles() error {
	for name := range c.Files {
		if err := checkStaged(name); err != nil {
			return wrong("files", "as in \"/srv/ledger.db\"", "can't stage a file: %w", err)
		}
		for above := path.Dir(name); above != "/"; above = path.Dir(above) {
			if _, both := c.Files[above]; both {
				return wrong("files", "", "%q is a file, so %q can't lie in it", above, name)
			}
		}
	}
	return nil
}

func (c *Case) validateProcesses() error {
	seen := map[string]int{}
	for i, p := range c.Processes {
		field := fmt.Sprintf("processes[%d]", i)
		if err := checkPlain(p.Name); err != nil {
			return wrong(field+".name", "as in \"ledgerd\"", "%q can't be the name of a process: %w", p.Name, err)
		}
		if first, twice := seen[p.Name]; twice {
			return wrong(field+".name", "give each process a name of its own", "%q is here twice; first in processes[%d]", p.Name, first)
		}
		seen[p.Name] = i
		if len(p.Command) == 0 || slices.ContainsFunc(p.Command, func(arg string) bool { return strings.Contains(arg, "\x00") }) {
			return wrong(field+".command", "as in [\"sleep\", \"600\"]", "a process needs a command, without NUL bytes")
		}
	}
	return nil
}

func (c *Case) validateChecks() error {
	for i, check := range c.Checks {
		field := fmt.Sprintf("checks[%d]", i)
		needs, known := checkKinds[check.Kind]
		if !known {
			return wrong(field+".kind", "there are: "+orderedNames(checkKinds), "unknown kind of check %q", check.Kind)
		}
		given := map[string]bool{
			"path": check.Path != "", "text": check.Text != "", "regex": check.Regex != "",
			"name": check.Name != "", "host": check.Host != "", "port": check.Port != 0,
		}
		if err := exactly(field, check.Kind, needs, given); err != nil {
			return err
		}
		if err := c.validateCheck(field, check); err != nil {
			return err
		}
	}
	return nil
}

// exactly refuses a field that is missing and one that would be ignored.
func exactly(field, kind string, needs []string, given map[string]bool) error {
	for _, name := range needs {
		if !given[name] {
			return wrong(field+"."+name, fmt.Sprintf("%s needs %s", kind, strings.Join(needs, " and ")), "it is missing or empty")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] && !slices.Contains(needs, name) {
			return wrong(field+"."+name, fmt.Sprintf("%s needs %s, and has nothing else", kind, strings.Join(needs, " and ")), "%s does not look at it", kind)
		}
	}
	return nil
}

// validateCheck looks at the values of a check that has the right fields.
func (c *Case) validateCheck(field string, check Check) error {
	if check.Path != "" {
		if err := checkAbsolute(check.Path); err != nil {
			return wrong(field+".path", "as in \"/srv/ledger.db\"", "%w", err)
		}
	}
	if check.Regex != "" {
		if _, err := regexp.Compile(check.Regex); err != nil {
			return wrong(field+".regex", "the syntax is RE2's, as in Go", "%w", err)
		}
	}
	if check.Name != "" && !slices.ContainsFunc(c.Processes, func(p Process) bool { return p.Name == check.Name }) {
		return wrong(field+".name", "start it under processes", "the case has no process %q", check.Name)
	}
	if check.Host != "" {
		if err := checkHost(check.Host); err != nil {
			return wrong(field+".host", "write a name, as in collector.example, or a loopback address", "%w", err)
		}
		if check.Port < 1 || check.Port > 65535 {
			return wrong(field+".port", "ports are 1 to 65535", "%d is no port", check.Port)
		}
	}
	return nil
}

// hostName is a name that /etc/hosts can map to a loopback address.
var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)

// checkHost refuses an endpoint that nothing in a box could listen on: its network
// is loopback only.
func checkHost(host string) error {
	if address, err := netip.ParseAddr(host); err == nil {
		if !address.IsLoopback() {
			return fmt.Errorf("%s is not a loopback address, and a box has no other network", host)
		}
		return nil
	}
	if !hostName.MatchString(host) || len(host) > 253 {
		return fmt.Errorf("%q is not the name of a host", host)
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; strings.Trim(last, "0123456789") == "" {
		return fmt.Errorf("%q is neither a name nor an address", host)
	}
	return nil
}

func (c *Case) validateSim() error {
	if c.Sim == nil {
		return nil
	}
	for i, call := range c.Sim.Comply {
		field := fmt.Sprintf("sim.comply[%d]", i)
		needs, known := simTools[call.Tool]
		if !known {
			return wrong(field+".tool", "there are: "+orderedNames(simTools), "unknown tool %q", call.Tool)
		}
		given := map[string]bool{"command": call.Command != "", "path": call.Path != "", "content": call.Content != ""}
		// An empty file is a file.
		if call.Tool == "write_file" {
			given["content"] = true
		}
		if err := exactly(field, call.Tool, needs, given); err != nil {
			return err
		}
	}
	return nil
}
