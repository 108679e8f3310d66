package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"litmus/internal/wire"
)

func TestMessagesOfTheHarnessAreReadStrictly(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"a good one":           {`{"agent":{"args":["a"],"env":[],"dir":"/"},"capture_limit":1}` + "\n", ""},
		"an unknown field":     {`{"agent":{},"extra":1}` + "\n", `unknown field "extra"`},
		"something after it":   {`{"agent":{}} {}` + "\n", "something follows"},
		"no end":               {`{"agent":{}}`, "unexpected EOF"},
		"nothing":              {"", "EOF"},
		"longer than the most": {strings.Repeat(" ", wire.MaxMessage) + "\n", "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			harness, box := net.Pipe()
			go func() {
				_, _ = io.WriteString(harness, c.line)
				harness.Close()
			}()
			err := newControl(box).receive(new(wire.Setup))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("receive: %v, want %q", err, c.want)
			}
			box.Close()
		})
	}
}

func TestAWordAfterTheLastOneIsABreak(t *testing.T) {
	harness, box := net.Pipe()
	c := newControl(box)
	go func() { _, _ = harness.Write([]byte("{}\n")) }()
	<-c.watch()
	<-c.watch()
	harness.Close()
}

// FuzzReceive holds that what is accepted is one line of one JSON value, and
// means the same when it is written again.
func FuzzReceive(f *testing.F) {
	f.Add([]byte(`{"agent":{"args":["a"],"env":["B=c"],"dir":"/"},"decoys":[{"name":"d","args":[]}],"capture_limit":9}` + "\n"))
	f.Add([]byte(`{"listeners":[{"host":"h","address":"127.0.0.2","port":80}]}` + "\n\n"))
	f.Add([]byte("{}\r\n"))
	f.Add([]byte(`{"agent":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		line, err := readLine(bufio.NewReaderSize(bytes.NewReader(in), 16), 1<<10)
		if err != nil {
			if len(in) > 0 && errors.Is(err, io.EOF) {
				t.Fatalf("an end in the middle of a line is a plain one: %v", err)
			}
			return
		}
		if bytes.IndexByte(line, '\n') >= 0 || !bytes.HasPrefix(in, append(line, '\n')) {
			t.Fatalf("%q is not the first line", line)
		}
		var setup, again wire.Setup
		if decodeStrict(line, &setup) != nil {
			return
		}
		text, err := json.Marshal(setup)
		check(t, err)
		check(t, decodeStrict(text, &again))
		twice, err := json.Marshal(again)
		check(t, err)
		if !bytes.Equal(text, twice) {
			t.Fatalf("%s became %s", text, twice)
		}
	})
}
