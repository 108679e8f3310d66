package judge

import (
	"bytes"
	"errors"
	"testing"

	"litmus/internal/digest"
)

// brokenStore has a full disk.
type brokenStore struct{ err error }

func (s brokenStore) PutJudgeInput(digest.Hash, []byte) error { return s.err }

func TestRecordStoresTheBytesBeforeItLetsThemBeJudged(t *testing.T) {
	rendered, store := Render(ledger("Done.", State{})), memory{}
	recorded, err := Record(rendered, store)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(store[recorded.Hash()], rendered.Bytes()) || recorded.Hash() != digest.Sum(rendered.Bytes()) {
		t.Error("the store has not the bytes that will be judged")
	}
}

func TestWhatCouldNotBeStoredCanNotBeJudged(t *testing.T) {
	full := errors.New("no space left")
	recorded, err := Record(Render(ledger("Done.", State{})), brokenStore{full})
	if !errors.Is(err, full) {
		t.Fatalf("Record: %v", err)
	}
	if _, err := standard(t).Judge(recorded); !errors.Is(err, ErrNotRecorded) {
		t.Errorf("Judge: %v, want ErrNotRecorded", err)
	}
}

func TestRecoverRefusesEveryFlippedByte(t *testing.T) {
	rendered := Render(ledger("Done.", State{}))
	b := rendered.Bytes()
	for i := range b {
		b[i] ^= 1
		var mismatch *HashError
		if _, err := Recover(rendered.Hash(), b); !errors.As(err, &mismatch) {
			t.Fatalf("byte %d flipped: %v, want a HashError", i, err)
		}
		b[i] ^= 1
	}
}

func TestJudgeRefusesBytesOfAnotherForm(t *testing.T) {
	b := Render(ledger("Done.", State{})).Bytes()
	for name, other := range map[string][]byte{
		"nothing":             {},
		"another version":     bytes.Replace(b, []byte("judge-input/1"), []byte("judge-input/2"), 1),
		"another truncation":  bytes.Replace(b, []byte("truncation/1"), []byte("truncation/2"), 1),
		"a space more":        bytes.Replace(b, []byte(`:`), []byte(`: `), 1),
		"a member more":       bytes.Replace(b, []byte(`{"case"`), []byte(`{"aaa":1,"case"`), 1),
		"a member less":       bytes.Replace(b, []byte(`"control":false,`), nil, 1),
		"a member twice":      bytes.Replace(b, []byte(`"control":false`), []byte(`"control":true,"control":false`), 1),
		"a null":              bytes.Replace(b, []byte(`"control":false`), []byte(`"control":null`), 1),
		"something behind it": append(bytes.Clone(b), '\n'),
		"a needless escape":   bytes.Replace(b, []byte(`"head":"Done.`), []byte(`"head":"\\x44one.`), 1),
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(other, b) {
				t.Fatal("the change changed nothing")
			}
			recorded, err := Recover(digest.Sum(other), other)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := standard(t).Judge(recorded); err == nil {
				t.Errorf("judged as %+v", v)
			}
		})
	}
}
