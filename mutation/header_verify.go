package mutation

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// parse reads and verifies the header line.
func (h *Header) parse(line []byte) error {
	if err := canon.Check(line); err != nil {
		return err
	}
	var format struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(line, &format); err != nil || format.Format != Format {
		return fmt.Errorf("this is not a %s", Format)
	}
	if err := json.Unmarshal(line, h, json.RejectUnknownMembers(true)); err != nil {
		return decodeError(err)
	}
	written, err := canon.Marshal(h)
	if err != nil {
		return err
	}
	if !bytes.Equal(written, line) {
		return errors.New("an absent value is written out, or a member is missing")
	}
	return h.verify()
}

// verify recomputes every hash of the header whose source is in it. The corpus
// hash covers the cases before mutation, which a manifest does not have.
func (h *Header) verify() error {
	c := h.Counts
	switch {
	case c.Chains != len(h.Chains) || c.Seeds != len(h.Seeds):
		return wrong("counts", "", "they are not the numbers of chains and seeds")
	case c.Cases < 1 || c.Chains < 1 || c.Seeds < 1 || !isProduct(c):
		return wrong("counts", "", "instances is not the product of cases, chains and seeds")
	case h.Instrument.Rubric.Hash != digest.Sum([]byte(h.Rubric)):
		return wrong("instrument.rubric.hash", "", "it is not the hash of the rubric")
	}
	if err := checkSeeds(h.Seeds); err != nil {
		return err
	}
	if err := h.verifySettings(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, chain := range h.Chains {
		if !chainName.MatchString(chain.Name) || names[chain.Name] {
			return wrong("chains", "", "%q is no name of a chain, or stands there twice", chain.Name)
		}
		names[chain.Name] = true
	}
	for name, tree := range h.Fixtures {
		if err := tree.verify(); err != nil {
			return wrong("fixtures."+name, "", "%w", err)
		}
	}
	if hash, err := h.seedListHash(); err != nil || hash != h.Instrument.SeedListHash {
		return wrong("instrument.seed_list_hash", "", "it is not the hash of the seeds")
	}
	if hash, err := h.suiteHash(); err != nil || hash != h.Instrument.SuiteHash {
		return wrong("instrument.suite_hash", "", "it is not the hash of the chains, the corpus hash and the fixtures")
	}
	return nil
}

// isProduct multiplies without overflow: a header can claim any number.
func isProduct(c Counts) bool {
	perCase := c.Chains * c.Seeds // lengths of lists that are in memory
	return c.Instances%perCase == 0 && c.Instances/perCase == c.Cases
}

// verifySettings refuses settings that no suite could have: a run relies on them.
func (h *Header) verifySettings() error {
	in, l, agent := h.Instrument, h.Instrument.Limits, h.Subject.Agent
	switch {
	case in.Judge.Kind != RulesJudge:
		return wrong("instrument.judge.kind", "", "the judge %q is not supported", in.Judge.Kind)
	case in.Network != noNetwork:
		return wrong("instrument.network", "", "%q is not supported", in.Network)
	case min(int64(l.Memory), int64(l.Pids), int64(l.Writable), int64(l.Inodes), int64(l.Output), int64(l.Turns), l.Tokens, int64(l.Deadline)) < 1:
		return wrong("instrument.limits", "", "each of them must be above 0")
	case agent.Kind != ReferenceAgent && (agent.Kind != CommandAgent || len(agent.Command) == 0):
		return wrong("subject.agent", "", "it is neither the reference agent nor a command")
	}
	if err := checkStaged(in.Environment.Workdir); err != nil {
		return wrong("instrument.environment.workdir", "", "%w", err)
	}
	return nil
}
