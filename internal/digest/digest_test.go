package digest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// counting returns the input of BLAKE3's published test vectors: 0, 1, … 250, 0, 1, …
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// vectorKey is the key of BLAKE3's published test vectors.
var vectorKey = Hash([]byte("whats the Elvish word for friend"))

// From test_vectors.json of the BLAKE3 reference implementation.
func TestSumAgreesWithThePublishedVectors(t *testing.T) {
	for n, want := range map[int]string{
		0:    "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
		1:    "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
		1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
	} {
		if got := Sum(counting(n)).String(); got != want {
			t.Errorf("Sum of %d bytes = %s, want %s", n, got, want)
		}
	}
}

func TestXOFAgreesWithThePublishedVectors(t *testing.T) {
	for n, want := range map[int]string{
		0: "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
		1: "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
	} {
		var got Hash
		if _, err := io.ReadFull(XOF(vectorKey, counting(n)), got[:]); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("XOF over %d bytes starts %s, want %s", n, got, want)
		}
	}
}

func TestXOFIsOneStreamHoweverItIsRead(t *testing.T) {
	whole := make([]byte, 200)
	if _, err := io.ReadFull(XOF(vectorKey, []byte("label")), whole); err != nil {
		t.Fatal(err)
	}
	var pieces []byte
	for r, piece := XOF(vectorKey, []byte("label")), make([]byte, 7); len(pieces) < len(whole); {
		n, err := r.Read(piece)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, piece[:n]...)
	}
	if !bytes.Equal(whole, pieces[:len(whole)]) {
		t.Error("reading in pieces gives other bytes than reading at once")
	}
}

func TestKeyedTellsApartPartsThatJoinToTheSameBytes(t *testing.T) {
	seen := map[Hash][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}} {
		var input [][]byte
		for _, p := range parts {
			input = append(input, []byte(p))
		}
		sum := Keyed(vectorKey, input...)
		if other, taken := seen[sum]; taken {
			t.Errorf("%q and %q have the same hash", parts, other)
		}
		seen[sum] = parts
	}
}

func TestKeyedIsKeyedBlake3OverLengthPrefixedParts(t *testing.T) {
	label := []byte("\x00\x00\x00\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x01c")
	var want Hash
	if _, err := io.ReadFull(XOF(vectorKey, label), want[:]); err != nil {
		t.Fatal(err)
	}
	if got := Keyed(vectorKey, []byte("ab"), []byte("c")); got != want {
		t.Errorf("Keyed = %s, want %s", got, want)
	}
	if Keyed(Hash{}, []byte("ab"), []byte("c")) == want {
		t.Error("the key makes no difference")
	}
}

func TestWriterHashesAndCountsWhatIsWrittenInPieces(t *testing.T) {
	input := counting(5000)
	w := NewWriter()
	for piece := input; len(piece) > 0; {
		n := min(len(piece), 333)
		if _, err := w.Write(piece[:n]); err != nil {
			t.Fatal(err)
		}
		piece = piece[n:]
		w.Sum() // must not disturb what follows
	}
	if w.Sum() != Sum(input) || w.Len() != int64(len(input)) {
		t.Errorf("got %s after %d bytes, want %s after %d", w.Sum(), w.Len(), Sum(input), len(input))
	}
}

func TestParseTakesOnlyWhatStringPrints(t *testing.T) {
	h := Sum([]byte("x"))
	if got, err := Parse(h.String()); err != nil || got != h {
		t.Errorf("Parse(String()) = %s, %v", got, err)
	}
	for name, s := range map[string]string{
		"empty":              "",
		"cut to 16 digits":   h.String()[:16],
		"one digit more":     h.String() + "0",
		"capitals":           strings.ToUpper(h.String()),
		"a space in it":      " " + h.String()[1:],
		"a prefix":           "0x" + h.String()[2:],
		"not hex at the end": h.String()[:63] + "g",
	} {
		if got, err := Parse(s); err == nil {
			t.Errorf("%s: Parse took it as %s", name, got)
		}
	}
}

func TestHashIsHexInJSON(t *testing.T) {
	h := Sum(nil)
	b, err := json.Marshal(h)
	if err != nil || string(b) != `"`+h.String()+`"` {
		t.Fatalf("Marshal = %s, %v", b, err)
	}
	var back Hash
	if err := json.Unmarshal(b, &back); err != nil || back != h {
		t.Errorf("Unmarshal = %s, %v", back, err)
	}
}

func TestZeroHashIsZeroAndAnotherIsNot(t *testing.T) {
	if !(Hash{}).IsZero() || Sum(nil).IsZero() {
		t.Error("IsZero is wrong")
	}
}

func FuzzParseAndStringAreInverse(f *testing.F) {
	f.Add(Sum(nil).String())
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := Parse(s); err == nil && h.String() != s {
			t.Errorf("Parse took %q, which is not how %s is printed", s, h)
		}
	})
}
