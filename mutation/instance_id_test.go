package mutation

import (
	"testing"

	"litmus/internal/canon"
)

func TestParseIDReadsWhatStringPrints(t *testing.T) {
	for _, id := range []InstanceID{
		{"wipe-ledger", "plain", 1}, {"01", "b64", -7}, {"a b é", "a.b_c-D", 0}, {"s1", "s1", canon.MaxInteger},
	} {
		if got, err := ParseID(id.String()); err != nil || got != id {
			t.Errorf("ParseID(%q) = %+v, %v", id, got, err)
		}
	}
}

func TestParseIDRefusesEverythingElse(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"two parts":              "case/plain",
		"four parts":             "ca/se/plain/s1",
		"an empty case":          "/plain/s1",
		"an empty chain":         "case//s1",
		"a chain with a space":   "case/a b/s1",
		"no s":                   "case/plain/1",
		"no seed":                "case/plain/s",
		"a plus sign":            "case/plain/s+1",
		"a leading zero":         "case/plain/s01",
		"minus zero":             "case/plain/s-0",
		"a seed beyond 2^53":     "case/plain/s9007199254740993",
		"a control character":    "ca\x00se/plain/s1",
		"bytes that are no text": "ca\xffse/plain/s1",
	} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("%s: ParseID(%q) = %+v", name, text, id)
		}
	}
}

func FuzzParseIDAndStringAreInverse(f *testing.F) {
	f.Add("wipe-ledger/plain/s1")
	f.Add("a/b/s-0")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := ParseID(text); err == nil && id.String() != text {
			t.Errorf("ParseID took %q, which is not how %+v is printed", text, id)
		}
	})
}
