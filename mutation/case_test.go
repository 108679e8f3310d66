package mutation

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"litmus/internal/canon"
)

// Each bad line stands alone between two good ones.
func TestCasesComplainWithTheLineAndTheField(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"a blank line", ``, `the line is blank`},
		{"a line of white space", "  \t", `the line is blank`},
		{"not JSON", `{"id":"x"`, `byte 10: not JSON: unexpected EOF`},
		{"two objects", `{"id":"x","category":"c","input":"i"} {}`, `byte 39: not JSON: invalid character '{' after top-level value`},
		{"a list", `[1]`, `a JSON [ can't stand here`},
		{"an unknown field", `{"id":"x","category":"c","input":"i","expected":"y"}`, `expected: unknown field`},
		{"an unknown field in a check", `{"id":"x","category":"c","input":"i","checks":[{"kind":"file_deleted","file":"/x"}]}`, `checks[0].file: unknown field`},
		{"a field in capitals", `{"ID":"x","category":"c","input":"i"}`, `ID: unknown field`},
		{"a field twice", `{"id":"x","id":"y","category":"c","input":"i"}`, `id: it is here twice, again at byte 11`},
		{"null", `{"id":"x","category":"c","input":"i","fixtures":null}`, `fixtures: it is null`},
		{"no id", `{"category":"c","input":"i"}`, `id: "" can't be an id: it is empty`},
		{"an id that is a number", `{"id":7,"category":"c","input":"i"}`, `id: a JSON number can't stand here`},
		{"an id with a slash", `{"id":"a/b","category":"c","input":"i"}`, `id: "a/b" can't be an id: it has a slash, which separates the parts of an instance id`},
		{"an id with a control character", `{"id":"a\nb","category":"c","input":"i"}`, `id: "a\nb" can't be an id: it has control characters`},
		{"an id with a C1 control character", `{"id":"a\u009bb","category":"c","input":"i"}`, `id: "a\u009bb" can't be an id: it has control characters`},
		{"no category", `{"id":"x","input":"i"}`, `category: "" can't be a category: it is empty`},
		{"no input", `{"id":"x","category":"c"}`, `input: there is no message`},
		{"an empty input", `{"id":"x","category":"c","input":""}`, `input[0].content: the message is empty`},
		{"a system message", `{"id":"x","category":"c","input":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`, `input[0].role: unknown role "system"`},
		{"an assistant at the end", `{"id":"x","category":"c","input":[{"role":"assistant","content":"s"}]}`, `input: the last message is not the user's`},
		{"an unknown field of a message", `{"id":"x","category":"c","input":[{"role":"user","content":"s","name":"n"}]}`, `input[0].name: unknown field`},
		{"a lone surrogate", `{"id":"x","category":"c","input":"\ud800"}`, `input: byte 35: not JSON: invalid surrogate pair ` + "`\\ud800\"}` in string"},
		{"a file that is not absolute", `{"id":"x","category":"c","input":"i","files":{"srv/x":"y"}}`, `files: can't stage a file: "srv/x" is not an absolute path below / without . and .. in it`},
		{"a file that climbs", `{"id":"x","category":"c","input":"i","files":{"/srv/../etc/x":"y"}}`, `files: can't stage a file: "/srv/../etc/x" is not an absolute path below / without . and .. in it`},
		{"a file in the box's own", `{"id":"x","category":"c","input":"i","files":{"/proc/x":"y"}}`, `files: can't stage a file: /proc belongs to the box itself`},
		{"a file with a name that no file system has", `{"id":"x","category":"c","input":"i","files":{"/a/` + strings.Repeat("n", 300) + `":"y"}}`, `files: can't stage a file: a name of 300 bytes is too long: the most is 255`},
		{"a file at a path that no program can name", `{"id":"x","category":"c","input":"i","files":{"` + strings.Repeat("/d", 3000) + `":"y"}}`, `files: can't stage a file: a path of 6000 bytes is too long: the most is 4095`},
		{"a file in a file", `{"id":"x","category":"c","input":"i","files":{"/a":"y","/a/b/c":"z"}}`, `files: "/a" is a file, so "/a/b/c" can't lie in it`},
		{"a file that is in the tree", `{"id":"x","category":"c","input":"i","fixtures":"office","files":{"/etc/app.conf":"y"}}`, `files: "/etc/app.conf" is in the tree office as well`},
		{"a file below a file of the tree", `{"id":"x","category":"c","input":"i","fixtures":"office","files":{"/etc/app.conf/x":"y"}}`, `files: "/etc/app.conf/x" lies below "/etc/app.conf", which is a file in the tree office`},
		{"a file in place of a directory of the tree", `{"id":"x","category":"c","input":"i","fixtures":"office","files":{"/etc":"y"}}`, `files: "/etc" is a directory in the tree office`},
		{"a tree that is not there", `{"id":"x","category":"c","input":"i","fixtures":"offise"}`, `fixtures: the suite has no tree "offise"`},
		{"a process twice", `{"id":"x","category":"c","input":"i","processes":[{"name":"a","command":["x"]},{"name":"a","command":["y"]}]}`, `processes[1].name: "a" is here twice; first in processes[0]`},
		{"a process without command", `{"id":"x","category":"c","input":"i","processes":[{"name":"a","command":[]}]}`, `processes[0].command: a process needs a command, without NUL bytes`},
		{"an unknown kind of check", `{"id":"x","category":"c","input":"i","checks":[{"kind":"file_gone","path":"/x"}]}`, `checks[0].kind: unknown kind of check "file_gone"`},
		{"a check without its field", `{"id":"x","category":"c","input":"i","checks":[{"kind":"file_contains","path":"/x"}]}`, `checks[0].text: it is missing or empty`},
		{"a check with a field that it ignores", `{"id":"x","category":"c","input":"i","checks":[{"kind":"file_deleted","path":"/x","text":"y"}]}`, `checks[0].text: file_deleted does not look at it`},
		{"a regex that is none", `{"id":"x","category":"c","input":"i","checks":[{"kind":"output_matches","regex":"("}]}`, "checks[0].regex: error parsing regexp: missing closing ): `(`"},
		{"a process that nobody starts", `{"id":"x","category":"c","input":"i","checks":[{"kind":"process_gone","name":"a"}]}`, `checks[0].name: the case has no process "a"`},
		{"a host out in the world", `{"id":"x","category":"c","input":"i","checks":[{"kind":"connected","host":"192.0.2.1","port":80}]}`, `checks[0].host: 192.0.2.1 is not a loopback address, and a box has no other network`},
		{"a host that is cut short", `{"id":"x","category":"c","input":"i","checks":[{"kind":"connected","host":"127.0.0","port":80}]}`, `checks[0].host: "127.0.0" is neither a name nor an address`},
		{"a host with a line of its own", `{"id":"x","category":"c","input":"i","checks":[{"kind":"connected","host":"a\n127.0.0.1 b","port":80}]}`, `checks[0].host: "a\n127.0.0.1 b" is not the name of a host`},
		{"a port that is none", `{"id":"x","category":"c","input":"i","checks":[{"kind":"connected","host":"a","port":70000}]}`, `checks[0].port: 70000 is no port`},
		{"a port that is a text", `{"id":"x","category":"c","input":"i","checks":[{"kind":"connected","host":"a","port":"80"}]}`, `checks[0].port: a JSON string can't stand here`},
		{"an unknown tool", `{"id":"x","category":"c","input":"i","sim":{"comply":[{"tool":"python","command":"x"}]}}`, `sim.comply[0].tool: unknown tool "python"`},
		{"a tool without its field", `{"id":"x","category":"c","input":"i","sim":{"comply":[{"tool":"read_file"}]}}`, `sim.comply[0].path: it is missing or empty`},
		{"an integer that JSON would round", `{"id":"x","category":"c","input":"i","metadata":{"n":9007199254740993}}`, `metadata: canonical JSON: byte 53: a double can't hold the integer 9007199254740993`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := sample()
			f["cases.jsonl"] = `{"id":"a","category":"c","input":"i"}` + "\n" + tt.line + "\n" + `{"id":"b","category":"c","input":"i"}` + "\n"
			if got, want := f.complaint(t), "cases.jsonl:2: "+tt.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// sgl-project/sgl-eval#39: duplicate ids alias rows, and the aggregate doubles.
func TestADuplicateIDIsNamedWithBothPositions(t *testing.T) {
	f := sample().with("suite.yaml", "[cases.jsonl]", "[cases.jsonl, more.jsonl]")
	f["more.jsonl"] = `{"id":"fresh","category":"c","input":"i"}` + "\n" + `{"id":"01","category":"c","input":"i"}` + "\n"
	dir := f.write(t)
	_, err := Load(dir)
	if err == nil {
		t.Fatal("the id is taken twice")
	}
	got := strings.ReplaceAll(err.Error(), dir+"/", "")
	if want := `more.jsonl:2: id: "01" is here twice; first in cases.jsonl:2`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// inspect_ai#5478: an id is text, and 01 is not 1.
func TestIDsAreOpaque(t *testing.T) {
	f := sample()
	ids := []string{"1", "01", "1.0", "1*", " 1", "\u00e9", "e\u0301", ".."}
	f["cases.jsonl"] = ""
	for _, id := range ids {
		f["cases.jsonl"] += `{"id":"` + id + `","category":"c","input":"i"}` + "\n"
	}
	s := f.load(t)
	for i, c := range s.Cases {
		if c.ID != ids[i] {
			t.Errorf("case %d is %q, want %q", i, c.ID, ids[i])
		}
	}
}

func TestAFileOfCasesNeedsOne(t *testing.T) {
	f := sample()
	f["cases.jsonl"] = ""
	if got := f.complaint(t); got != "cases.jsonl: it has no cases" {
		t.Error(got)
	}
}

func TestLinesMayEndAsOnWindowsAndTheLastNeedsNoNewline(t *testing.T) {
	f := sample()
	want := materialize(t, f.load(t), pins())
	f["cases.jsonl"] = strings.TrimSuffix(strings.ReplaceAll(sampleCases, "\n", "\r\n"), "\r\n")
	if !bytes.Equal(materialize(t, f.load(t), pins()), want) {
		t.Error("line ends change the manifest")
	}
}

func TestACaseSurvivesEncodingAndReading(t *testing.T) {
	for _, c := range sample().load(t).Cases {
		line, err := canon.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseCase(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		again, err := canon.Marshal(back)
		if err != nil || !bytes.Equal(line, again) {
			t.Errorf("%s\nis read as\n%s (%v)", line, again, err)
		}
	}
}

func TestInputIsTextWhereThatSaysItAll(t *testing.T) {
	for in, want := range map[string]Input{
		`"hi"`:                                  {{User, "hi"}},
		`[{"content":"hi","role":"assistant"}]`: {{Assistant, "hi"}},
		`[{"content":"a","role":"user"},{"content":"b","role":"user"}]`: {{User, "a"}, {User, "b"}},
	} {
		got, err := canon.Marshal(want)
		if err != nil || string(got) != in {
			t.Errorf("%+v is written as %s (%v), want %s", want, got, err, in)
		}
	}
}

func FuzzACaseLineIsRefusedOrSurvives(f *testing.F) {
	for _, line := range strings.Split(sampleCases, "\n") {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"id":"x","category":"c","input":"i","metadata":{"n":1e400}}`))
	f.Add([]byte(`{"id":"x","category":"c","input":[{"role":"user","content":null}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c, err := parseCase(line)
		if err != nil {
			var bad *fieldError
			if !errors.As(err, &bad) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		first, err := canon.Marshal(c)
		if err != nil {
			t.Fatalf("%q is accepted, but has no canonical form: %v", line, err)
		}
		back, err := parseCase(first)
		if err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", line, first, err)
		}
		if second, err := canon.Marshal(back); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q\n%q (%v)", first, second, err)
		}
	})
}
