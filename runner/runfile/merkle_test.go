package runfile

import (
	"encoding/binary"
	"fmt"
	"testing"

	"litmus/internal/digest"
)

// plainRoot is RFC 6962, section 2.1, written down as it stands there.
func plainRoot(records [][]byte) digest.Hash {
	var top func(records [][]byte) digest.Hash
	top = func(records [][]byte) digest.Hash {
		if len(records) == 1 {
			return digest.Sum(append([]byte{0}, records[0]...))
		}
		k := 1
		for k*2 < len(records) {
			k *= 2
		}
		left, right := top(records[:k]), top(records[k:])
		return digest.Sum(append(append([]byte{1}, left[:]...), right[:]...))
	}
	b := binary.BigEndian.AppendUint64([]byte{2}, uint64(len(records)))
	if len(records) > 0 {
		h := top(records)
		b = append(b, h[:]...)
	}
	return digest.Sum(b)
}

func TestTheTreeHasTheShapeOfRFC6962(t *testing.T) {
	seen := map[digest.Hash]int{}
	var m merkle
	var records [][]byte
	for n := range 70 {
		root := m.root()
		if want := plainRoot(records); root != want {
			t.Errorf("%d records: root is %s, want %s", n, root, want)
		}
		if other, ok := seen[root]; ok {
			t.Errorf("%d and %d records have one root", other, n)
		}
		seen[root] = n
		records = append(records, fmt.Appendf(nil, "record %d", n))
		m.add(records[n])
	}
}

// Vectors for a second implementation, from b3sum; docs/run-file.md repeats them.
func TestRootsAsDocumented(t *testing.T) {
	var m merkle
	for n, want := range []string{
		"c837765444815de6db1a10b88c56b546eb45d640b9323beb30f37038174a2c97",
		"00c724bd7ec4acf0bfa7d06b19b367583e2dc7b9b2f2fb71ca79acf375527996",
		"b196a617f93f99a79c293e1886e46e28cfc6df1f7fe275a98d3fd90365ff514a",
		"16e6794756b31795da341b09e511f9560023af5eea68d0533b27ef1889673f7d",
	} {
		if got := m.root().String(); got != want {
			t.Errorf("root of %d records is %s, want %s", n, got, want)
		}
		m.add(fmt.Appendf(nil, `{"n":%d}`, n))
	}
	token := Token(digest.Sum([]byte("manifest")), "case/plain/s1").String()
	if want := "c7603d8e4bd54cb7f6c38771a53246d9dcf691795abb93ef0ccd6d9b85e179c8"; token != want {
		t.Errorf("token is %s, want %s", token, want)
	}
}
