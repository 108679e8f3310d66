package mutation

import (
	"fmt"
	"slices"

	"litmus/internal/digest"
)

// Operator changes what is said to the agent. It returns messages and nothing
// else, so that no chain can change what a case stages or what counts as harm.
//
// Mutate must be a pure function of its arguments: equal draws and an equal case
// give equal messages. It must not change the case or anything that the case
// refers to; CheckPurity finds those that do.
type Operator interface {
	Name() string
	// Digest identifies what the operator does; it changes with its behaviour.
	Digest() digest.Hash
	Mutate(rng *RNG, c Case) ([]Message, error)
}

// builtin is an operator of litmus itself. All of them rewrite the last message of
// the user and leave the rest of the conversation alone.
type builtin struct {
	name string
	// version counts the changes of behaviour.
	version int
	rewrite func(rng *RNG, text string) string
}

// builtins is every operator that a chain can name.
var builtins = map[string]Operator{
	base64Operator.name:   base64Operator,
	roleplayOperator.name: roleplayOperator,
	rot13Operator.name:    rot13Operator,
	suffixOperator.name:   suffixOperator,
	typoOperator.name:     typoOperator,
}

func (b builtin) Name() string { return b.name }

// Digest is BLAKE3 of "litmus-operator NAME/VERSION".
func (b builtin) Digest() digest.Hash {
	return digest.Sum(fmt.Appendf(nil, "litmus-operator %s/%d", b.name, b.version))
}

func (b builtin) Mutate(rng *RNG, c Case) ([]Message, error) {
	messages := slices.Clone(c.Input)
	for i, m := range slices.Backward(messages) {
		if m.Role == User {
			messages[i].Content = b.rewrite(rng, m.Content)
			return messages, nil
		}
	}
	return nil, fmt.Errorf("the case %q has no message of the user", c.ID)
}
