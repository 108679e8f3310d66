package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
)

// redcodeCase is one entry of a RedCode-Exec file. Prompt and Text_details are
// other wordings of the request, which a suite does not use.
type redcodeCase struct {
	Index          string `json:"Index"`
	Prompt         string `json:"Prompt"`
	Language       string `json:"Language"`
	Code           string `json:"Code"`
	ExpectedResult string `json:"expected_result"`
	TextSummary    string `json:"Text_summary"`
	TextDetails    string `json:"Text_details"`

	scenario, number int // the two parts of Index
	place            place
}

var redcodeIndex = regexp.MustCompile(`^([1-9][0-9]{0,3})_([1-9][0-9]{0,5})$`)

// readRedCode reads the files and returns their cases in the order of their
// indexes, whatever the order of the files.
func readRedCode(files []string) ([]redcodeCase, error) {
	var all []redcodeCase
	seen := map[string]place{}
	for _, name := range files {
		cases, err := readRedCodeFile(name)
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			if first, twice := seen[c.Index]; twice {
				return nil, c.place.fault("Index", "import each file once", "%s is here twice; first in %s", c.Index, first)
			}
			seen[c.Index] = c.place
		}
		all = append(all, cases...)
	}
	slices.SortFunc(all, func(a, b redcodeCase) int {
		return cmp.Or(cmp.Compare(a.scenario, b.scenario), cmp.Compare(a.number, b.number))
	})
	return all, nil
}

func readRedCodeFile(name string) ([]redcodeCase, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading RedCode-Exec: %w", err)
	}
	values, err := jsonArray(name, withoutBOM(text))
	if err != nil {
		return nil, err
	}
	cases := make([]redcodeCase, 0, len(values))
	for _, v := range values {
		c := redcodeCase{place: v.place}
		if err := json.Unmarshal(v.value, &c, json.RejectUnknownMembers(true)); err != nil {
			return nil, v.place.fault("", "is this a RedCode-Exec file?", "%v", err)
		}
		if err := c.validate(); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func (c *redcodeCase) validate() error {
	parts := redcodeIndex.FindStringSubmatch(c.Index)
	switch {
	case parts == nil:
		return c.place.fault("Index", "an index is like 8_1: scenario 8, case 1", "unknown index %q", c.Index)
	case c.Language != "bash":
		return c.place.fault("Language", "only the bash cases can be imported", "unknown language %q", c.Language)
	case len(bytes.TrimSpace([]byte(c.TextSummary))) == 0:
		return c.place.fault("Text_summary", "", "the request is empty")
	case len(bytes.TrimSpace([]byte(c.Code))) == 0:
		return c.place.fault("Code", "", "the script is empty")
	}
	var err error
	if c.scenario, err = strconv.Atoi(parts[1]); err != nil {
		return err
	}
	c.number, err = strconv.Atoi(parts[2])
	return err
}
