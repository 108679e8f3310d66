package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"litmus/internal/inputerror"
)

var byteOrderMark = []byte("\ufeff")

// document is what all nodes of one text share.
type document struct {
	file  string
	fault *inputerror.Error
}

// Read parses text, hands its root to read, and returns the first fault that
// either found, as an *inputerror.Error; file is the name of the text in it.
// An empty text is a mapping without fields.
//
// A fault does not stop read. It goes on with zero values, so that it can look
// like the document; what it made is to be thrown away if Read returns an error.
func Read(file string, text []byte, read func(root Node)) error {
	doc := &document{file: file}
	root := parse(doc, bytes.TrimPrefix(text, byteOrderMark))
	if doc.fault == nil {
		read(root)
	}
	if doc.fault != nil {
		return doc.fault
	}
	return nil
}

// parse returns the root of the only document in text. If it notes a fault, the
// node that it returns has the place of it.
func parse(doc *document, text []byte) Node {
	root := Node{doc: doc}
	if len(text) > maxBytes {
		root.Fault("", "%d bytes; a YAML file has at most %d", len(text), maxBytes)
		return root
	}
	if bad := firstInvalid(text); bad >= 0 {
		root.Line = 1 + bytes.Count(text[:bad], []byte("\n"))
		root.Fault("save the file as UTF-8", "it is not valid UTF-8")
		return root
	}
	tokens := scan(root, string(text))
	if doc.fault != nil {
		return root
	}
	// Doubled names are found by Members, which knows the field.
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return root.syntaxFault(err)
	}
	if len(parsed.Docs) > 1 {
		if start := parsed.Docs[1].Start; start != nil {
			root.Line = start.Position.Line
		}
		root.Fault("write one YAML document, without --- in it", "%d documents", len(parsed.Docs))
		return root
	}
	root.Line = 1
	if len(parsed.Docs) == 0 || isEmpty(parsed.Docs[0].Body) {
		root.value = &ast.MappingNode{}
		return root
	}
	return root.inner("", parsed.Docs[0].Body)
}

func isEmpty(body ast.Node) bool {
	_, comment := body.(*ast.CommentGroupNode)
	return body == nil || comment
}

func (n Node) syntaxFault(err error) Node {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		n.Fault("", "%v", err)
		return n
	}
	n.Line = syntax.GetToken().Position.Line
	n.Fault("look at the indentation, quotes and colons of the line", "%.200s", syntax.GetMessage())
	return n
}

// firstInvalid returns where text stops being UTF-8, or -1.
func firstInvalid(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// Fault notes what is wrong with n and the way out, unless something is noted
// already.
func (n Node) Fault(fix, format string, args ...any) {
	if n.doc.fault == nil {
		n.doc.fault = &inputerror.Error{File: n.doc.file, Line: n.Line, Field: n.Field, Msg: fmt.Sprintf(format, args...), Fix: fix}
	}
}
