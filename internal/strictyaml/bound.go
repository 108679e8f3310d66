package strictyaml

import (
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// The parser takes time and memory that grow with the square of the nesting, of
// the names in a mapping and of the values that are left out: 64 KiB of "[" took
// it 37 seconds, 1 MiB of "-\n" more than a minute. So it only ever sees few
// tokens, and flat ones. The scanner is linear, but wants 100 bytes and more for
// each byte of such a text, so it gets a beginning of it first.
const (
	maxBytes   = 1 << 20
	maxTokens  = 1 << 14
	maxDepth   = 64
	firstBytes = 1 << 15
)

// scan returns the tokens of text if they are within bounds, and otherwise notes
// the first that is not.
func scan(root Node, text string) token.Tokens {
	for size := firstBytes; size < len(text) && root.doc.fault == nil; size *= 2 {
		if tokens := lex(text[:size]); len(tokens) > 0 {
			bound(root, tokens[:len(tokens)-1]) // the last one may be cut
		}
	}
	if root.doc.fault != nil {
		return nil
	}
	tokens := lex(text)
	bound(root, tokens)
	return tokens
}

// lex returns the tokens of text up to the first that is invalid.
func lex(text string) token.Tokens {
	var s scanner.Scanner
	s.Init(text)
	var tokens token.Tokens
	for {
		more, err := s.Scan()
		tokens.Add(more...)
		if err != nil { // io.EOF, or the invalid token says it
			return tokens
		}
	}
}

func bound(root Node, tokens token.Tokens) {
	var depth nesting
	count := 0
	for _, t := range tokens {
		at := root
		at.Line = t.Position.Line
		switch t.Type {
		case token.CommentType:
			continue
		case token.InvalidType:
			return // for the parser to say why
		case token.AnchorType, token.AliasType, token.TagType:
			at.Fault("put text that starts with "+t.Value[:1]+" in quotes, and write each value out where it is used",
				"anchors (&), aliases (*) and tags (!) are not supported")
		}
		if count++; count > maxTokens {
			at.Fault("", "a YAML file has at most %d names, values and marks", maxTokens)
		}
		if depth.add(t) > maxDepth {
			at.Fault("", "it is nested more than %d deep", maxDepth)
		}
		if root.doc.fault != nil {
			return
		}
	}
}

// nesting counts how deep a token lies. A list whose dashes are in the column of
// the name that it belongs to counts with it as one.
type nesting struct {
	flow int
	// columns of the open block mappings and lists, ascending.
	columns []int
}

func (d *nesting) add(t *token.Token) int {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		d.flow++
	case token.MappingEndType, token.SequenceEndType:
		d.flow = max(0, d.flow-1)
	case token.SequenceEntryType:
		d.block(t.Position.Column)
	case token.MappingKeyType:
		if d.flow == 0 {
			d.block(t.Position.Column)
		}
	case token.MappingValueType:
		// The token before a colon is the name. In flow style its column says
		// nothing.
		if d.flow == 0 && t.Prev != nil {
			d.block(t.Prev.Position.Column)
		}
	}
	return d.flow + len(d.columns)
}

// block takes in that a block mapping or list has an entry in a column.
func (d *nesting) block(column int) {
	open := len(d.columns)
	for open > 0 && d.columns[open-1] > column {
		open--
	}
	d.columns = d.columns[:open]
	if open == 0 || d.columns[open-1] < column {
		d.columns = append(d.columns, column)
	}
}
