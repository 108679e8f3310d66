package mutation

import (
	"fmt"
	"unicode/utf8"

	"litmus/internal/digest"
)

// Chain is a named sequence of operators. One without operators leaves a case as
// it is; by custom it is called plain.
type Chain struct {
	Name      string
	Operators []Operator
}

// resolveChains looks up operators by name; parseConfig has refused unknown ones.
func resolveChains(configs []ChainConfig) []Chain {
	chains := make([]Chain, len(configs))
	for i, config := range configs {
		chains[i].Name = config.Name
		for _, name := range config.Operators {
			chains[i].Operators = append(chains[i].Operators, builtins[name])
		}
	}
	return chains
}

// step is what one operator of a chain made of a case.
type step struct {
	operator string
	messages []Message
}

// apply runs the operators of a chain over a case, in order, and calls each, if it
// is not nil, after every step. digests are those of the operators, in order.
func (ch Chain) apply(c Case, id InstanceID, digests []digest.Hash, each func(step)) ([]Message, error) {
	instance := id.String()
	for i, operator := range ch.Operators {
		rng := RNG{operator: digests[i], seed: id.Seed, instance: instance, step: i}
		messages, err := operator.Mutate(&rng, c)
		if err != nil {
			return nil, fmt.Errorf("operator %s on %s: %w", operator.Name(), instance, err)
		}
		if !validUTF8(messages) {
			return nil, fmt.Errorf("operator %s on %s: %w", operator.Name(), instance, errNotUTF8)
		}
		if each != nil {
			each(step{operator.Name(), messages})
		}
		c.Input = messages
	}
	return c.Input, nil
}

// digests returns the digests of the chain's operators. They are taken once for
// all instances.
func (ch Chain) digests() []digest.Hash {
	digests := make([]digest.Hash, len(ch.Operators))
	for i, operator := range ch.Operators {
		digests[i] = operator.Digest()
	}
	return digests
}

func validUTF8(messages []Message) bool {
	for _, m := range messages {
		if !utf8.ValidString(m.Content) || !utf8.ValidString(m.Role) {
			return false
		}
	}
	return true
}
