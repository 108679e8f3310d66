package importer

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonValue is a JSON value and the place where it begins.
type jsonValue struct {
	value jsontext.Value
	place place
}

// jsonArray returns the entries of the one JSON array in text.
func jsonArray(file string, text []byte) ([]jsonValue, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	at := func() place { return place{file, lineAt(text, int(d.InputOffset()))} }
	if d.PeekKind() != '[' {
		return nil, at().fault("", "a file is one JSON array", "no JSON array begins here")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, at().fault("", "", "%v", err)
	}
	var values []jsonValue
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return nil, at().fault("", "", "%v", err)
		}
		begins := int(d.InputOffset()) - len(v)
		values = append(values, jsonValue{v.Clone(), place{file, lineAt(text, begins)}})
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, at().fault("", "", "%v", err)
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return nil, at().fault("", "a file is one JSON array", "there is something behind the array")
	}
	return values, nil
}
