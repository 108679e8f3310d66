package importer

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"litmus/mutation"
)

// readJSON reads one array of objects.
func readJSON(file string, text []byte) ([]row, error) {
	values, err := jsonArray(file, text)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, v := range values {
		r, err := readObject(v)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// readJSONL reads one object a line.
func readJSONL(file string, text []byte) ([]row, error) {
	var rows []row
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		at := place{file, i + 1}
		if len(bytes.TrimSpace(line)) == 0 {
			return nil, blankRow(at)
		}
		r, err := readObject(jsonValue{line, at})
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func readObject(v jsonValue) (row, error) {
	r := row{place: v.place}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v.value, &members); err != nil || members == nil {
		return row{}, v.place.fault("", "a row is one JSON object, no name twice", "this is none: %v", err)
	}
	if _, ok := members["input"]; !ok {
		return row{}, v.place.fault("input", "", "the row has no input")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := r.setMember(name, members[name]); err != nil {
			return row{}, err
		}
	}
	return r, nil
}

// setMember puts one member where its name says. A null is as good as nothing.
func (r *row) setMember(name string, value jsontext.Value) error {
	if value.Kind() == 'n' && name != "input" {
		return nil
	}
	switch name {
	case "input":
		return r.setInputValue(value)
	case "target":
		if err := json.Unmarshal(value, &r.target); err != nil {
			return r.place.fault("target", "a target is one string", "%v", err)
		}
		return nil
	case "id":
		return r.setIDValue(value)
	case "metadata":
		return r.setMetadataCell(string(value))
	default:
		return r.addMetadata(name, value)
	}
}

// setInputValue takes a string, or a list of messages with role and content.
func (r *row) setInputValue(value jsontext.Value) error {
	var input mutation.Input
	if err := json.Unmarshal(value, &input); err != nil {
		return r.place.fault("input", "an input is a string or a list of messages, which have role and content", "%v", err)
	}
	return r.setInput(input)
}

// setIDValue takes a string, or a number as it is written.
func (r *row) setIDValue(value jsontext.Value) error {
	if value.Kind() == '0' {
		return r.setID(value.String())
	}
	var id string
	if err := json.Unmarshal(value, &id); err != nil {
		return r.place.fault("id", "an id is a string or a number", "%v", err)
	}
	return r.setID(id)
}
