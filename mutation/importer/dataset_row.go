package importer

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"litmus/internal/canon"
	"litmus/mutation"
)

// row is one sample of a data set.
type row struct {
	place    place
	id       string
	hasID    bool
	input    mutation.Input
	target   string
	metadata map[string]any
}

// idForm is what an id may look like: it becomes part of instance ids, which
// have slashes between their parts.
var idForm = regexp.MustCompile(`^[^/\p{Cc}]+$`)

// setID gives the row the id that its file has for it.
func (r *row) setID(id string) error {
	if !idForm.MatchString(id) {
		return r.place.fault("id", "an id has no slashes and no control characters, and is not empty", "%q can't be an id", id)
	}
	r.id, r.hasID = id, true
	return nil
}

// setInput gives the row its input: messages of which the last is the user's.
func (r *row) setInput(input mutation.Input) error {
	for _, message := range input {
		if message.Role != mutation.User && message.Role != mutation.Assistant {
			return r.place.fault("input", "a system prompt belongs to the suite, in system.txt", "%q is not the role of a user or an assistant", message.Role)
		}
		if strings.TrimSpace(message.Content) == "" {
			return r.place.fault("input", "remove the row, or fill it", "the input is empty")
		}
	}
	if len(input) == 0 || input[len(input)-1].Role != mutation.User {
		return r.place.fault("input", "end with a message of the user", "it does not end with a message of the user")
	}
	r.input = input
	return nil
}

// addMetadata puts one value under a name that is not taken. The value must have
// a canonical form, as a manifest will need it.
func (r *row) addMetadata(name string, value jsontext.Value) error {
	if _, err := canon.Marshal(value); err != nil {
		return r.place.fault(name, "write large numbers as strings", "%v", err)
	}
	if _, taken := r.metadata[name]; taken {
		return r.place.fault(name, "rename the column", "it is a column and a member of metadata")
	}
	if r.metadata == nil {
		r.metadata = map[string]any{}
	}
	r.metadata[name] = value
	return nil
}

// addText is addMetadata for a value that is text.
func (r *row) addText(name, text string) error {
	value, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return r.place.fault(name, "", "%v", err)
	}
	return r.addMetadata(name, value)
}

// mustBeUTF8 refuses other encodings, which would be read as something else.
func mustBeUTF8(file string, text []byte) error {
	if utf8.Valid(text) {
		return nil
	}
	valid := 0
	for rest := text; ; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size <= 1 {
			break
		}
		valid, rest = valid+size, rest[size:]
	}
	fix := "save the file as UTF-8"
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		fix = "it looks like UTF-16: " + fix
	}
	return place{file, lineAt(text, valid)}.fault("", fix, "this is not UTF-8")
}
