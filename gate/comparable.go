package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"litmus/internal/canon"
	"litmus/internal/inputerror"
)

// Difference is one field of the instrument, or one row of the manifest, that is
// not the same on both sides.
type Difference struct {
	// Field is the dotted path of a leaf: sampling.temperature, chains[2].name.
	// A name that is no plain word stands in brackets, as a JSON string.
	Field string `json:"field"`
	// Baseline and Candidate are the values as canonical JSON. A side that lacks
	// the field is nil and left out of the JSON; null and "" are values.
	Baseline  json.RawMessage `json:"baseline,omitempty"`
	Candidate json.RawMessage `json:"candidate,omitempty"`
}

// compareInstruments returns every differing leaf, sorted as the paths are met
// with object members in order of name. Numbers are compared in canonical form,
// so 1.0 and 1 are the same and 0.1 and 0.10000001 are not.
func compareInstruments(baseline, candidate json.RawMessage) ([]Difference, error) {
	b, err := canonicalInstrument("baseline", baseline)
	if err != nil {
		return nil, err
	}
	c, err := canonicalInstrument("candidate", candidate)
	if err != nil {
		return nil, err
	}
	return appendDifferences(nil, "", b, c), nil
}

func canonicalInstrument(side string, raw json.RawMessage) (json.RawMessage, error) {
	canonical, err := canon.Marshal(jsontext.Value(raw))
	if err != nil {
		return nil, &inputerror.Error{Field: side + " instrument", Msg: err.Error()}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(canonical, &fields) != nil || len(fields) == 0 {
		// Two runs that say nothing of how they were measured are not comparable,
		// however equal their silence.
		return nil, &inputerror.Error{Field: side + " instrument", Msg: "not a JSON object with at least one field"}
	}
	return canonical, nil
}

// appendDifferences descends as long as both sides are of one kind, or one of
// them is missing, so that what is reported is always a leaf.
func appendDifferences(to []Difference, path string, b, c json.RawMessage) []Difference {
	if bytes.Equal(b, c) {
		return to
	}
	if fields, ok := commonFields(b, c); ok {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			to = appendDifferences(to, memberPath(path, name), fields[name][0], fields[name][1])
		}
		return to
	}
	if entries, ok := commonEntries(b, c); ok {
		for i, entry := range entries {
			to = appendDifferences(to, fmt.Sprintf("%s[%d]", path, i), entry[0], entry[1])
		}
		return to
	}
	return append(to, Difference{path, b, c})
}

// commonFields returns the members of two objects by name, baseline first. A
// missing side has no members, but two sides without any are a leaf.
func commonFields(b, c json.RawMessage) (map[string][2]json.RawMessage, bool) {
	fields := map[string][2]json.RawMessage{}
	for side, raw := range [2]json.RawMessage{b, c} {
		if raw == nil {
			continue
		}
		var members map[string]json.RawMessage
		if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
			return nil, false
		}
		for name, value := range members {
			pair := fields[name]
			pair[side] = value
			fields[name] = pair
		}
	}
	return fields, len(fields) > 0
}

// commonEntries is commonFields for arrays, by position.
func commonEntries(b, c json.RawMessage) ([][2]json.RawMessage, bool) {
	var entries [][2]json.RawMessage
	for side, raw := range [2]json.RawMessage{b, c} {
		if raw == nil {
			continue
		}
		var values []json.RawMessage
		if raw[0] != '[' || json.Unmarshal(raw, &values) != nil {
			return nil, false
		}
		for i, value := range values {
			if i == len(entries) {
				entries = append(entries, [2]json.RawMessage{})
			}
			entries[i][side] = value
		}
	}
	return entries, len(entries) > 0
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func memberPath(path, name string) string {
	switch {
	case !plainName.MatchString(name):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}
