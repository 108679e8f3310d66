package judge

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"litmus/internal/digest"
)

func TestTruncate(t *testing.T) {
	const limit = keepHead + keepTail
	long := strings.Repeat("ä", limit) // two bytes each
	odd := "x" + long
	noText := strings.Repeat("\x80", 2*limit)
	for name, test := range map[string]struct {
		field      Field
		head, tail int
	}{
		"a field at the limit is whole":                          {Whole([]byte(long[:limit])), limit, 0},
		"a longer one loses its middle":                          {Whole([]byte(long)), keepHead, keepTail},
		"no cut splits a character":                              {Whole([]byte(odd)), keepHead - 1, keepTail},
		"bytes that are no text are cut where the count says":    {Whole([]byte(noText)), keepHead, keepTail},
		"a field that came cut keeps its beginning, and no tail": {Field{Head: []byte(long), Total: 1 << 40}, limit, 0},
		"a short field that came cut stays cut":                  {Field{Head: []byte("abc"), Total: 10}, 3, 0},
		"an empty field is empty":                                {Whole(nil), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			head, tail, cut := truncate(test.field)
			if len(head) != test.head || len(tail) != test.tail || cut != test.field.Total-int64(len(head)+len(tail)) {
				t.Errorf("kept %d and %d bytes, %d cut; want %d and %d", len(head), len(tail), cut, test.head, test.tail)
			}
			if !bytes.HasPrefix(test.field.Head, head) || !bytes.HasSuffix(test.field.Head, tail) {
				t.Error("what is kept is not the beginning and the end")
			}
		})
	}
}

func FuzzTruncatedTextStaysText(f *testing.F) {
	f.Add([]byte("aä€😀"), 3)
	f.Add([]byte("\x80\x80\x80\x80\x80"), 2)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > len(b) {
			return
		}
		head, tail := b[:headEnd(b, n)], b[tailStart(b, n):]
		if len(head) > n || len(tail) > n || len(head) <= n-utf8.UTFMax || len(tail) <= n-utf8.UTFMax {
			t.Errorf("of %d wanted bytes %d and %d are kept", n, len(head), len(tail))
		}
		if utf8.Valid(b) && (!utf8.Valid(head) || !utf8.Valid(tail)) {
			t.Errorf("%q and %q are no text", head, tail)
		}
	})
}

// inspect_ai #4778: output over the limit was cut, and nothing said so.
func TestACutFieldSaysHowMuchIsMissingAndHashesTheWhole(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789"), 10_000)
	m := Material{Output: Output{Stdout: Whole(whole)}}
	in, err := parseInput(Render(m).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if in.Stdout.Bytes != 100_000 || in.Stdout.Cut != 100_000-keepHead-keepTail || in.Stdout.Hash != digest.Sum(whole) {
		t.Errorf("the input says %d bytes, %d cut, %s", in.Stdout.Bytes, in.Stdout.Cut, in.Stdout.Hash)
	}
}

// inspect_k8s_sandbox #206: one byte that is not UTF-8 dropped the sample.
func TestEveryByteSurvivesRendering(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	m := Material{
		Case:  Case{ID: string(all), Checks: []Check{{Kind: "output_matches", Regex: `\x00\x01`}}},
		Final: string(all), Output: Output{ToolResults: []Field{Whole(all)}},
	}
	in, err := parseInput(Render(m).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	facts, err := readFacts(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(facts.output[0].pieces[0], all) || !bytes.Equal(facts.final.pieces[0], all) {
		t.Error("the bytes came back as others")
	}
}
