package strictyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"litmus/internal/inputerror"
)

// faultOf reads text as a mapping with the fields of a small file.
func faultOf(text string) string {
	err := Read("f.yaml", []byte(text), readSmall)
	if err == nil {
		return ""
	}
	return err.Error()
}

func readSmall(root Node) {
	m := root.Mapping([]string{"name"}, []string{"sizes", "share", "on", "inner", "biases"})
	m.Get("name").Text()
	for _, size := range m.Get("sizes").List() {
		size.Integer()
	}
	m.Get("share").Number()
	m.Get("on").FlagOr(true)
	m.Get("inner").Mapping([]string{"kind"}, []string{"text"}).Get("kind").Text()
	m.Get("biases").TextMap()
}

func TestFaultsHaveALineAndAField(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"all is well", "name: x\nsizes: [1, -2, +3]\nshare: 0.5\non: false\ninner: {kind: a, text: ''}\n", ""},
		{"a byte order mark", "\ufeffname: x\n", ""},
		{"JSON", `{"name": "x", "sizes": [1]}`, ""},
		{"an unknown field", "name: x\nnmae: y\n", "f.yaml:2: nmae: unknown field"},
		{"an unknown field in depth", "name: x\ninner:\n  kind: a\n  x: 1\n", "f.yaml:4: inner.x: unknown field"},
		{"an unknown field with a mapping below it", "name: x\ninnre:\n  kind: a\n", "f.yaml:2: innre: unknown field"},
		{"a missing field", "# a comment\nsizes: []\n", `f.yaml:2: the field "name" is missing`},
		{"a missing field in depth", "name: x\ninner: {}\n", `f.yaml:2: inner: the field "kind" is missing`},
		{"nothing", "", `f.yaml:1: the field "name" is missing`},
		{"a comment", "# nothing\n", `f.yaml:1: the field "name" is missing`},
		{"a field twice", "name: x\nshare: 1\nname: y\n", `f.yaml:3: "name" is here twice; first on line 1`},
		{"a field twice, once in quotes", "name: x\n'name': y\n", `f.yaml:2: "name" is here twice; first on line 1`},
		{"a field twice in depth", "name: x\ninner: {kind: a,\n  kind: b}\n", `f.yaml:3: inner: "kind" is here twice; first on line 2`},
		{"a name with a dot is not a path", "name: x\nbiases: {a.b: x, a: y}\n", ""},
		{"two documents", "name: x\n---\nname: y\n", "f.yaml:2: 2 documents"},
		{"a list at the top", "- name\n", "f.yaml:1: this must be a mapping of names to values"},
		{"a text at the top", "name\n", "f.yaml:1: this must be a mapping of names to values"},
		{"null at the top", "~\n", "f.yaml:1: this must be a mapping of names to values"},
		{"a number for a text", "name: 12\n", "f.yaml:1: name: this must be text"},
		{"nothing for a text", "name:\nshare: 1\n", "f.yaml:1: name: this must be text"},
		{"an empty text", "name: ''\n", "f.yaml:1: name: this must not be empty"},
		{"a number for a name", "name: x\nbiases: {50256: a}\n", "f.yaml:2: biases: a name must be plain text"},
		{"a list for a name", "? [a]\n: b\n", "f.yaml:2: found an invalid key for this map"},
		{"a mapping for a list", "name: x\nsizes: {a: 1}\n", "f.yaml:2: sizes: this must be a list"},
		{"a fraction for a whole number", "name: x\nsizes: [1, 1.5]\n", "f.yaml:2: sizes[1]: this must be a whole number"},
		{"an octal number", "name: x\nsizes: [010]\n", `f.yaml:2: sizes[0]: "010" is not a whole number that JSON can hold exactly`},
		{"an integer that JSON would round", "name: x\nsizes: [9007199254740993]\n", `f.yaml:2: sizes[0]: "9007199254740993" is not a whole number that JSON can hold exactly`},
		{"a number with underscores", "name: x\nshare: 1_0.5\n", `f.yaml:2: share: "1_0.5" is not a decimal number`},
		{"not a number", "name: x\nshare: .nan\n", "f.yaml:2: share: this must be a number"},
		{"a text for a flag", "name: x\non: 'yes'\n", "f.yaml:2: on: this must be true or false"},
		{"a merge key", "name: x\n<<: {share: 1}\n", "f.yaml:2: a name must be plain text"},
		{"an anchor", "name: &n x\n", "f.yaml:1: anchors (&), aliases (*) and tags (!) are not supported"},
		{"an alias", "name: x\nshare: *n\n", "f.yaml:2: anchors (&), aliases (*) and tags (!) are not supported"},
		{"a tag", "name: !!str 12\n", "f.yaml:1: anchors (&), aliases (*) and tags (!) are not supported"},
		{"bytes that are not UTF-8", "name: x\nshare: \xff\n", "f.yaml:2: it is not valid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := faultOf(tt.text); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestBrokenYAMLIsNamedWithItsLine(t *testing.T) {
	for _, text := range []string{"name: x\nsizes: [\n", "name: x\nsizes: ]\n", "name: x\n'a\n"} {
		if got := faultOf(text); !strings.HasPrefix(got, "f.yaml:2: ") {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestAnUnknownFieldHintsAtTheOneThatWasMeant(t *testing.T) {
	for name, want := range map[string]string{
		"nmae":                   "did you mean name? known fields: ",
		"size":                   "did you mean sizes? known fields: ",
		"biasses":                "did you mean biases? known fields: ",
		"temperature":            "known fields: ",
		"o":                      "known fields: ",
		strings.Repeat("n", 400): "known fields: ",
	} {
		var bad *inputerror.Error
		if err := Read("f.yaml", []byte(name+": x\n"), readSmall); !errors.As(err, &bad) || !strings.HasPrefix(bad.Fix, want) {
			t.Errorf("%s: hint %q, want %q", name, bad.Fix, want)
		}
	}
}

// The parser took 37 seconds for 64 KiB of "[", and more than a minute for 1 MiB
// of "-\n": each of these must be refused before it gets there.
func TestHostileTextsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxBytes/len(s)) }
	deepest := fmt.Sprintf("it is nested more than %d deep", maxDepth)
	longest := fmt.Sprintf("a YAML file has at most %d names, values and marks", maxTokens)
	const references = "anchors (&), aliases (*) and tags (!) are not supported"
	for _, tt := range []struct{ name, text, want string }{
		{"a list in a list in a list, in one line", fill("["), "f.yaml:1: " + deepest},
		{"one bracket a line", fill("[\n"), "f.yaml:65: " + deepest},
		{"a mapping in a mapping in a mapping", fill("{a: "), "f.yaml:1: " + deepest},
		{"mappings in lists", fill("[a: "), "f.yaml:1: " + deepest},
		{"lists in mappings", fill("{a: ["), "f.yaml:1: " + deepest},
		{"dashes in one line", fill("- "), "f.yaml:1: " + deepest},
		{"dashes in a flow list", "[" + strings.Repeat("- ", maxBytes/2-1), "f.yaml:1: " + deepest},
		{"question marks in one line", fill("? "), "f.yaml:1: " + deepest},
		{"mappings by indentation", indented(1000, "a:\n"), "f.yaml:65: " + deepest},
		{"lists by indentation", indented(500, "-\n"), "f.yaml:65: " + deepest},
		{"lists and mappings by indentation", indented(500, "- a:\n"), "f.yaml:33: " + deepest},
		{"many entries without a value", fill("-\n"), "f.yaml:16385: " + longest},
		{"many names", fill("name: x\n"), "f.yaml:5462: " + longest},
		{"many entries", "[" + strings.Repeat("a,", maxBytes/2-1), "f.yaml:1: " + longest},
		{"many documents", fill("---\n"), "f.yaml:16385: " + longest},
		{"closing brackets", fill("]"), "f.yaml:1: " + longest},
		{"anchors on anchors", fill("&a "), "f.yaml:1: " + references},
		{"tags on tags", fill("!t "), "f.yaml:1: " + references},
		{"a billion laughs", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "f.yaml:1: " + references},
		{"a list that has itself as entry", "name: x\nsizes: &a [*a]\n", "f.yaml:2: " + references},
		{"a text that is too long", fill("x") + "xx", fmt.Sprintf("f.yaml: %d bytes; a YAML file has at most %d", maxBytes+2, maxBytes)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := faultOf(tt.text); got != tt.want {
				t.Errorf("got  %.200s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestALongFileIsReadAsAWhole(t *testing.T) {
	for name, entry := range map[string]string{
		"plain":        "- a long line of text, with a colon:in it\n",
		"double quote": "- \"a line of text, with [[[[[ in it\"\n",
		"single quote": "- 'a line of text, with - - - in it'\n",
		"block":        "- |\n  &a *a\n  - - -\n",
		"commented":    "# &a [[[[ *a\n",
	} {
		text := strings.Repeat(entry, 5000) + "- [\n"
		lines := strings.Count(text, "\n")
		err := Read("f.yaml", []byte(text), func(Node) {})
		var bad *inputerror.Error
		if !errors.As(err, &bad) || bad.Line != lines || strings.Contains(bad.Msg, "nested") {
			t.Errorf("%s: %v, want the fault on line %d", name, err, lines)
		}
	}
}

// indented has one entry a line, each deeper than the one before.
func indented(levels int, entry string) string {
	var b strings.Builder
	step := strings.Repeat(" ", strings.Index(entry+"a", "a")+1)
	for i := range levels {
		b.WriteString(strings.Repeat(step, i) + entry)
	}
	return b.String()
}

func TestNestingWithinTheBoundIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"flow style":            strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		"by indentation":        indented(maxDepth, "a:\n"),
		"many lists, one each":  strings.Repeat("- [[a], {b: c}]\n", 1000),
		"a long mapping":        "{" + strings.Repeat("a: 1, ", 1000) + "}",
		"in and out again":      strings.Repeat("- a:\n    b:\n      - c\n", 1000),
		"a name in each column": "a:\n  b:\n c:\nd: 1\n",
	} {
		doc := &document{file: "f.yaml"}
		scan(Node{doc: doc}, text)
		if doc.fault != nil {
			t.Errorf("%s: %v", name, doc.fault)
		}
	}
}

func FuzzReadNeverPanicsAndNamesAPlace(f *testing.F) {
	for _, seed := range []string{"name: x\nsizes: [1]\n", "a: &a [*a]", "? [x]\n: y", "<<: {name: x}", "%YAML 1.2\n---\nname: |\n  x\n...\n", "{a: [b, {c: d}]}", "- - a\n  - b", "\"a\": 'b' # c", "!!str a", "a: >-\n\n  x", "\ufeff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := Read("f.yaml", []byte(text), func(root Node) { readSmall(root); walk(root, 0) })
		var bad *inputerror.Error
		if err != nil && (!errors.As(err, &bad) || bad.File != "f.yaml" || bad.Msg == "") {
			t.Fatalf("%T %v", err, err)
		}
	})
}

// walk takes every reading of every node.
func walk(n Node, depth int) {
	if depth > 2*maxDepth+1 {
		panic("deeper than scan lets through")
	}
	n.QuietText()
	n.PlainScalar()
	n.Integer()
	n.Number()
	for _, entry := range n.List() {
		walk(entry, depth+1)
	}
	for _, member := range n.Members() {
		walk(member.Value, depth+1)
	}
}
