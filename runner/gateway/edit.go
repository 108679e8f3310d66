package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of a request's top-level object. Its text is
// body[start:end], from the first quote of the name to the last byte of the value.
type member struct {
	name       string // unescaped: "\u006eodel" is not another name than "model"
	value      jsontext.Value
	start, end int
}

// members reads body, which must be one JSON object and nothing else but white
// space: RFC 8259, UTF-8, no name twice at any depth. Values alias body.
func members(body []byte) ([]member, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return nil, errors.New("not a JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var list []member
	for dec.PeekKind() != '}' {
		m, err := readMember(dec, body)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the JSON object at byte %d", dec.InputOffset())
	}
	return list, nil
}

func readMember(dec *jsontext.Decoder, body []byte) (member, error) {
	name, err := dec.ReadValue()
	if err != nil {
		return member{}, err
	}
	start := int(dec.InputOffset()) - len(name)
	unquoted, err := jsontext.AppendUnquote(nil, name)
	if err != nil {
		return member{}, err
	}
	value, err := dec.ReadValue()
	if err != nil {
		return member{}, err
	}
	end := int(dec.InputOffset())
	return member{string(unquoted), body[end-len(value) : end], start, end}, nil
}

// edit returns body with the pinned members set or taken out, and every other
// byte as it was: the value of a pinned member is replaced where it stands, a
// member pinned to unset goes together with the comma and white space before it,
// and what was missing is put after the last member, in order of name.
func edit(body []byte, list []member, pins []pin) []byte {
	pins = nameLimit(list, pins)
	if len(list) == 0 {
		open := bytes.IndexByte(body, '{') + 1
		return slices.Concat(body[:open], appendMissing(nil, nil, pins, true), body[open:])
	}
	out := slices.Clone(body[:list[0].start])
	first, previous := true, list[0].start
	for _, m := range list {
		lead := body[previous:m.start]
		previous = m.end
		i := slices.IndexFunc(pins, func(p pin) bool { return p.name == m.name })
		if i >= 0 && pins[i].value == nil {
			continue
		}
		// The lead of a later member has a comma, which the first one kept must not have.
		if !first {
			out = append(out, lead...)
		}
		first = false
		if i < 0 {
			out = append(out, body[m.start:m.end]...)
			continue
		}
		out = append(out, body[m.start:m.end-len(m.value)]...)
		out = append(out, pins[i].value...)
	}
	out = appendMissing(out, list, pins, first)
	return append(out, body[previous:]...)
}

func appendMissing(out []byte, list []member, pins []pin, first bool) []byte {
	for _, p := range pins {
		if p.value == nil || has(list, p.name) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, '"')
		out = append(out, p.name...)
		out = append(out, '"', ':')
		out = append(out, p.value...)
	}
	return out
}

// nameLimit puts the pin of max_tokens under the name that the request uses for
// it, and takes out the other one.
func nameLimit(list []member, pins []pin) []pin {
	if !has(list, maxCompletionTokens) {
		return pins
	}
	named := slices.Clone(pins)
	for i := range named {
		if named[i].name == maxTokens {
			named[i].name = maxCompletionTokens
		}
	}
	return append(named, pin{name: maxTokens})
}

func has(list []member, name string) bool {
	return slices.ContainsFunc(list, func(m member) bool { return m.name == name })
}
