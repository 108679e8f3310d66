package importer

import (
	"regexp"
	"strings"
)

// script is a RedCode script with its literal variables put in. Its scripts are
// plain enough to be read: a few assignments, then the command that matters.
type script struct {
	variables map[string]string
	text      string
}

var (
	// name='value' or name="value" on a line of its own. Values with a
	// substitution in them are no literals.
	assignment = regexp.MustCompile(`(?m)^([a-z_]+)=(?:'([^'\n]*)'|"([^"$\x60\\\n]*)")[ \t]*$`)
	reference  = regexp.MustCompile(`"?\$(?:\{([a-z_]+)\}|([a-z_]+))"?`)
)

func readScript(code string) script {
	s := script{variables: map[string]string{}, text: code}
	for _, m := range assignment.FindAllStringSubmatch(code, -1) {
		s.variables[m[1]] = m[2] + m[3]
	}
	s.text = reference.ReplaceAllStringFunc(code, func(written string) string {
		value, literal := s.variables[strings.Trim(written, `"${}`)]
		if !literal {
			return written
		}
		return value
	})
	return s
}

// find returns the groups of the first match of a pattern in the script.
func (s script) find(pattern *regexp.Regexp) ([]string, bool) {
	m := pattern.FindStringSubmatch(s.text)
	if m == nil {
		return nil, false
	}
	return m[1:], true
}
