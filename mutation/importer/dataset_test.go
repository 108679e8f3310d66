package importer

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"litmus/internal/inputerror"
	"litmus/mutation"
)

// outline is what a data set's case comes to, for comparison.
func outline(c mutation.Case) string {
	regex := "-"
	if len(c.Checks) > 0 {
		regex = c.Checks[0].Regex
	}
	var metadata []string
	for _, name := range slices.Sorted(maps.Keys(c.Metadata)) {
		metadata = append(metadata, fmt.Sprintf("%s=%v", name, c.Metadata[name]))
	}
	var input []string
	for _, m := range c.Input {
		input = append(input, m.Role+": "+m.Content)
	}
	return fmt.Sprintf("%s|%q|%s|%t|%s", c.ID, input, regex, c.Ambiguous, strings.Join(metadata, ","))
}

func TestDatasets(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		want       []string
	}{
		"rows without ids are numbered from 1": {"d.csv", "input,target\na,xy\nb,\n", []string{
			`1|["user: a"]|xy|false|`, `2|["user: b"]|-|true|`}},
		"ids are opaque: 01 and 1 are two": {"d.csv", "id,input\n01,a\n1,b\n", []string{
			`01|["user: a"]|-|true|`, `1|["user: b"]|-|true|`}},
		"a target is a literal, not a pattern":       {"d.csv", "input,target\na,2+2=4.\n", []string{`1|["user: a"]|2\+2=4\.|false|`}},
		"a target that the request has is ambiguous": {"d.csv", "input,target\nsay xyz,xyz\n", []string{`1|["user: say xyz"]|xyz|true|`}},
		// inspect_ai #5353: a byte order mark hid the first column.
		"a byte order mark is no part of a name": {"d.csv", "\ufeffinput,target\na,xy\n", []string{`1|["user: a"]|xy|false|`}},
		"line ends may be those of Windows":      {"d.csv", "input,target\r\na,xy\r\n", []string{`1|["user: a"]|xy|false|`}},
		"the last line may lack its end":         {"d.csv", "input\na", []string{`1|["user: a"]|-|true|`}},
		// promptfoo #3069: quotes.
		"quotes, commas and line ends stay": {"d.csv", "input,target\n\"he said \"\"no\"\", and\n\nleft\",\"a,b\"\nb,c\n", []string{
			`1|["user: he said \"no\", and\n\nleft"]|a,b|false|`, `2|["user: b"]|c|false|`}},
		"other columns and the members of metadata are metadata": {"d.csv", "input,metadata,level\na,\"{\"\"n\"\":7}\",hard\n", []string{
			`1|["user: a"]|-|true|level=hard,n=7`}},
		"JSON: strings, numbers and nothing as id": {"d.json", `[{"id":"01","input":"a"},{"id":1,"input":"b"},{"id":1.0,"input":"c"}]`, []string{
			`01|["user: a"]|-|true|`, `1|["user: b"]|-|true|`, `1.0|["user: c"]|-|true|`}},
		"JSON: messages": {"d.json", `[{"input":[{"role":"assistant","content":"hm"},{"role":"user","content":"a"}],"target":"xy","extra":[1]}]`, []string{
			`1|["assistant: hm" "user: a"]|xy|false|extra=[1]`}},
		"JSON: null is as good as nothing": {"d.json", `[{"input":"a","target":null,"id":null,"metadata":null}]`, []string{`1|["user: a"]|-|true|`}},
		"JSONL: one object a line":         {"d.jsonl", "\ufeff{\"input\":\"a\"}\r\n{\"input\":\"b\",\"metadata\":{\"k\":\"v\"}}\n", []string{`1|["user: a"]|-|true|`, `2|["user: b"]|-|true|k=v`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, cases := imported(t, Dataset, written(t, test.file, test.text))
			var got []string
			for _, id := range slices.Sorted(maps.Keys(cases)) {
				got = append(got, outline(cases[id]))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestFaultsInDatasetsHaveAPlace(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		line       int
		field, msg string
	}{
		// inspect_ai #5474, #301 and #4546.
		"a blank row":                 {"d.csv", "input,target\na,b\n\nc,d\n", 3, "", "the row is blank"},
		"a blank first row":           {"d.csv", "\ninput,target\n", 1, "", "the row is blank"},
		"a blank last row":            {"d.csv", "input,target\na,b\n\n", 3, "", "the row is blank"},
		"a blank row of one column":   {"d.csv", "input\na\n\nb\n", 3, "", "the row is blank"},
		"a row of commas only":        {"d.csv", "input,target\n,\n", 2, "input", "the input is empty"},
		"a ragged row":                {"d.csv", "input,target,id\n2+2,4,q1\n,\n3+3,6,q2\n", 3, "", "wrong number of fields"},
		"a row with a field too many": {"d.csv", "input\na,b\n", 2, "", "wrong number of fields"},
		"a stray quote":               {"d.csv", "input\na\nb \"c\" d\n", 3, "", "bare"},
		"a quote that does not end":   {"d.csv", "input\na\n\"b\nc\n", 3, "", "quote"},
		// sgl-eval #39: rows with one id overwrote one another.
		"an id twice":                     {"d.csv", "id,input\nq,a\nr,b\nq,c\n", 4, "id", `the id "q" is here twice; first in `},
		"an id twice, as number and text": {"d.json", "[{\"id\":\"1\",\"input\":\"a\"},\n{\"id\":1,\"input\":\"b\"}]", 2, "id", "twice"},
		"an empty id":                     {"d.csv", "id,input\n,a\n", 2, "id", "can't be an id"},
		"an id with a slash":              {"d.csv", "id,input\na/b,a\n", 2, "id", "can't be an id"},
		"ids in some rows only":           {"d.json", "[{\"id\":\"a\",\"input\":\"a\"},\n{\"input\":\"b\"}]", 2, "id", "some have none"},
		"no column input":                 {"d.csv", "question,target\na,b\n", 1, "input", "no such column"},
		"a column twice":                  {"d.csv", "input,x,x\na,b,c\n", 1, "x", "two columns"},
		"a column without a name":         {"d.csv", "input,\na,b\n", 1, "", "column 2 has no name"},
		"metadata that is no object":      {"d.csv", "input,metadata\na,7\n", 2, "metadata", ""},
		"metadata that names a column":    {"d.csv", "input,k,metadata\na,1,\"{\"\"k\"\":2}\"\n", 2, "k", "a column and a member"},
		"a number that would be rounded":  {"d.json", `[{"input":"a","n":12345678901234567890}]`, 1, "n", "can't hold the integer"},
		"a row without input":             {"d.jsonl", "{\"input\":\"a\"}\n{\"target\":\"b\"}\n", 2, "input", "has no input"},
		"an input of null":                {"d.json", `[{"input":null}]`, 1, "input", "does not end"},
		"an input that is a number":       {"d.json", `[{"input":4}]`, 1, "input", ""},
		"an input of no messages":         {"d.json", `[{"input":[]}]`, 1, "input", "does not end"},
		"a message with something else":   {"d.json", `[{"input":[{"role":"user","content":"a","name":"b"}]}]`, 1, "input", "name"},
		"a name twice in an object":       {"d.jsonl", "{\"input\":\"a\",\"input\":\"b\"}\n", 1, "", "duplicate"},
		"a row that is no object":         {"d.jsonl", "{\"input\":\"a\"}\nnull\n", 2, "", "this is none"},
		"a blank line in JSONL":           {"d.jsonl", "{\"input\":\"a\"}\n\n{\"input\":\"b\"}\n", 2, "", "the row is blank"},
		"a file without rows":             {"d.csv", "input\n", 1, "", "no row"},
		"an empty file":                   {"d.csv", "", 1, "", "empty"},
		"bytes that are not UTF-8":        {"d.csv", "input\na\nb\xe4r\n", 3, "", "not UTF-8"},
		"UTF-16":                          {"d.csv", "\xff\xfei\x00n\x00", 1, "", "not UTF-8"},
		"a name that says no form":        {"d.txt", "input\na\n", 1, "", "does not say"},
	} {
		t.Run(name, func(t *testing.T) {
			file := written(t, test.file, test.text)
			_, err := Dataset([]string{file}, filepath.Join(t.TempDir(), "suite"))
			var fault *inputerror.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want an inputerror.Error", err)
			}
			if fault.File != file || fault.Line != test.line || fault.Field != test.field || !strings.Contains(fault.Msg, test.msg) {
				t.Errorf("got %v (line %d, field %q), want line %d, field %q, %q", err, fault.Line, fault.Field, test.line, test.field, test.msg)
			}
		})
	}
}

func TestRowsOfSeveralFilesAreNumberedOn(t *testing.T) {
	_, cases := imported(t, Dataset, written(t, "a.csv", "input\na\nb\n"), written(t, "b.jsonl", `{"input":"c"}`))
	if got := outline(cases["3"]); got != `3|["user: c"]|-|true|` {
		t.Errorf("the third row is %s", got)
	}
}

// Whatever the bytes: rows, or a complaint with a place; never a panic, never a
// row without input.
func FuzzDatasets(f *testing.F) {
	f.Add(0, "\ufeffinput,target\na,\"b\"\"\"\n\n")
	f.Add(1, `[{"input":"a","id":1}]`)
	f.Add(2, "{\"input\":\"a\"}\n\n")
	f.Fuzz(func(t *testing.T, form int, text string) {
		name := []string{"d.csv", "d.json", "d.jsonl"}[uint(form)%3]
		read, err := readerOf(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := read(name, []byte(text))
		var fault *inputerror.Error
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("no inputerror.Error: %v", err)
		}
		for _, r := range rows {
			if len(r.input) == 0 || r.place.line < 1 {
				t.Errorf("a row without input or place: %+v", r)
			}
		}
	})
}
