package canon

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

func TestTextEscapesWhatIsHostileAndNothingElse(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain text stays", "/srv/ledger.db", "/srv/ledger.db"},
		{"well-formed UTF-8 stays", "/tmp/é😀\u0085", "/tmp/é😀\u0085"},
		{"the replacement character itself stays", "\ufffd", "\ufffd"},
		{"a backslash doubles", `a\b`, `a\\b`},
		{"what looks like an escape does not turn into one", `\x41`, `\\x41`},
		{"controls and DEL are escaped", "a\n\x00\x1b\x7f", `a\x0a\x00\x1b\x7f`},
		{"ill-formed bytes are escaped one by one", "a\xff\xc3(\xed\xa0\x80", `a\xff\xc3(\xed\xa0\x80`},
		{"a cut sequence is escaped", "\xf0\x9f\x98", `\xf0\x9f\x98`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text([]byte(tt.in)); got != tt.want {
				t.Errorf("Text = %q, want %q", got, tt.want)
			}
			if back, err := Bytes(tt.want); err != nil || string(back) != tt.in {
				t.Errorf("Bytes = %q, %v, want %q", back, err, tt.in)
			}
		})
	}
}

func TestBytesRefusesWhatTextDoesNotPrint(t *testing.T) {
	for name, text := range map[string]string{
		"a backslash at the end":         `a\`,
		"an unknown escape":              `\n`,
		"a cut escape":                   `\x4`,
		"capital digits":                 `\xFF`,
		"an escape that need not be":     `\x41`,
		"a raw control character":        "a\nb",
		"raw ill-formed UTF-8":           "a\xff",
		"UTF-8 escaped byte by byte":     `\xc3\xa9`,
		"an escape that completes UTF-8": "\xc3" + `\xa9`,
	} {
		if b, err := Bytes(text); err == nil {
			t.Errorf("%s: Bytes(%q) = %q", name, text, b)
		}
	}
}

func FuzzTextAndBytesAreInverse(f *testing.F) {
	for _, seed := range []string{"", `\x41`, "\xff", "\xc3\\xa9", "é\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text := Text(in)
		if !utf8.ValidString(text) {
			t.Fatalf("Text(%q) = %q is not UTF-8", in, text)
		}
		if back, err := Bytes(text); err != nil || !bytes.Equal(back, in) {
			t.Fatalf("Bytes(Text(%q)) = %q, %v", in, back, err)
		}
		if b, err := Bytes(string(in)); err == nil && Text(b) != string(in) {
			t.Fatalf("Bytes took %q, which is not how %q is printed", in, b)
		}
	})
}
