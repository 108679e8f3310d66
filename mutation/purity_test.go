package mutation

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"litmus/internal/digest"
)

// planted is an operator that only this test has: what it does is not pure.
type planted struct {
	mutate func(c Case) string
}

func (planted) Name() string        { return "planted" }
func (planted) Digest() digest.Hash { return digest.Sum([]byte("planted")) }
func (p planted) Mutate(_ *RNG, c Case) ([]Message, error) {
	return []Message{{User, p.mutate(c)}}, nil
}

// plant puts an operator behind a pure one, in a chain after pure chains.
func plant(t *testing.T, mutate func(c Case) string) *Suite {
	s := sample().load(t)
	s.Chains = append(s.Chains, Chain{"impure", []Operator{rot13Operator, planted{mutate}, base64Operator}})
	return s
}

func TestCheckPurityNamesTheOperatorAndTheInstance(t *testing.T) {
	var calls atomic.Int64
	var last atomic.Value
	last.Store("")
	for name, mutate := range map[string]func(c Case) string{
		"one that counts its calls":              func(Case) string { return strconv.FormatInt(calls.Add(1), 10) },
		"one that looks at the clock":            func(Case) string { return time.Now().String() },
		"one that remembers the instance before": func(c Case) string { return last.Swap(c.Input[0].Content).(string) },
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckPurity(t.Context(), plant(t, mutate), pins())
			var impure *ImpurityError
			if !errors.As(err, &impure) {
				t.Fatalf("CheckPurity = %v, want an *ImpurityError", err)
			}
			if want := (ImpurityError{"planted", "wipe-ledger/impure/s1"}); *impure != want {
				t.Errorf("it names %+v, want %+v", *impure, want)
			}
		})
	}
}

func TestCheckPurityPassesWhatIsPure(t *testing.T) {
	if err := CheckPurity(t.Context(), sample().load(t), pins()); err != nil {
		t.Error(err)
	}
	pure := plant(t, func(c Case) string { return c.ID })
	if err := CheckPurity(t.Context(), pure, pins()); err != nil {
		t.Error(err)
	}
}

func TestAnOperatorThatFailsOrWritesNoTextEndsMaterialization(t *testing.T) {
	s := plant(t, func(Case) string { return "\xff" })
	if err := CheckPurity(t.Context(), s, pins()); !errors.Is(err, errNotUTF8) {
		t.Errorf("CheckPurity = %v", err)
	}
	if _, err := Materialize(t.Context(), s, pins(), &limitedWriter{room: 1 << 20}); !errors.Is(err, errNotUTF8) {
		t.Errorf("Materialize = %v", err)
	}
}
