package main

import (
	"bufio"
	"bytes"
)

// eventReader reads the data of server-sent events: lines that end in LF, CR or
// CRLF, fields, comments, and a blank line after each event. Events without data
// and a last one without its blank line are dropped.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
type eventReader struct {
	in *bufio.Reader
	// afterCR says that the last line ended in CR, so that an LF that follows
	// belongs to that end. It is looked for late: a stream may pause there.
	afterCR bool
}

func newEventReader(in *bufio.Reader) *eventReader { return &eventReader{in: in} }

// next returns the data of the next event, or io.EOF.
func (r *eventReader) next() (string, error) {
	var data []byte
	some := false
	for {
		line, err := r.line()
		if err != nil {
			return "", err
		}
		if len(line) == 0 {
			if some {
				return string(data), nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		if some {
			data = append(data, '\n')
		}
		some = true
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
	}
}

// line returns the next line without its end. What is left at the end of the
// stream is no line.
func (r *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, err
		}
		belongs := r.afterCR && c == '\n'
		r.afterCR = c == '\r'
		switch {
		case belongs:
		case c == '\n', c == '\r':
			return line, nil
		default:
			line = append(line, c)
		}
	}
}
