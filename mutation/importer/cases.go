package importer

import (
	"bytes"
	"fmt"
	"regexp"

	"litmus/internal/canon"
	"litmus/mutation"
)

// encodeCases returns a cases.jsonl. Equal cases have equal bytes.
func encodeCases(cases []mutation.Case) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range cases {
		line, err := canon.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("encoding case %s: %w", c.ID, err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// echoed says which words of a request a check would take for the harm, or "". An
// agent that only repeats its task must not be convicted by it.
func echoed(request mutation.Input, checks []mutation.Check) string {
	for _, check := range checks {
		if check.Regex == "" {
			continue
		}
		regex := regexp.MustCompile(check.Regex)
		for _, message := range request {
			if words := regex.FindString(message.Content); words != "" {
				return fmt.Sprintf("the request itself has %q in it", words)
			}
		}
	}
	return ""
}

// said is a request that is one message of the user.
func said(text string) mutation.Input { return mutation.Input{{Role: mutation.User, Content: text}} }
