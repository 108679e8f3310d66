package mutation

import (
	"fmt"
	"strings"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/internal/inputerror"
)

// Pins is what a manifest states that is not in the suite's directory. Model and
// Seeds take the place of the suite's where they are set; ModelSnapshot goes with
// Model.
type Pins struct {
	ImageDigest          string
	Semantics            map[string]string
	Model, ModelSnapshot string
	Seeds                []int64
}

// frozen is a suite with its pins: all that materialization depends on.
type frozen struct {
	header Header
	cases  []Case
	chains []Chain
}

// freeze computes the header and the cases that stand in the manifest.
func (s *Suite) freeze(pins Pins) (frozen, error) {
	f := frozen{cases: s.Cases, chains: s.Chains}
	subject := Subject{s.Config.Subject.Agent, s.Config.Subject.Model, s.Config.Subject.ModelSnapshot, s.SystemPrompt}
	if pins.Model != "" {
		subject.Model, subject.ModelSnapshot = pins.Model, pins.ModelSnapshot
	}
	if !simulated(subject.Model) {
		f.cases = withoutSim(s.Cases)
	}
	seeds := s.Config.Seeds
	if len(pins.Seeds) > 0 {
		seeds = pins.Seeds
	}
	if err := checkSeeds(seeds); err != nil {
		return frozen{}, err
	}
	f.header = Header{
		Format: Format, Name: s.Config.Name,
		Counts: Counts{
			Cases: len(f.cases), Chains: len(f.chains), Seeds: len(seeds),
			Instances: len(f.cases) * len(f.chains) * len(seeds),
		},
		Instrument: Instrument{
			Sampling: s.Config.Sampling, TokenizerID: s.Config.Subject.TokenizerID,
			Rubric: RubricPin{s.RubricVersion, digest.Sum(s.Rubric)},
			Judge:  s.Config.Judge, Limits: s.Config.Environment.Limits,
			Environment: EnvironmentPin{s.Config.Environment.Image, pins.ImageDigest, s.Config.Environment.Workdir},
			Network:     s.Config.Environment.Network, Semantics: pins.Semantics, Reproducible: s.Config.Reproducible,
		},
		Subject: subject, Rubric: string(s.Rubric), Fixtures: s.Fixtures, Seeds: seeds,
	}
	for _, chain := range f.chains {
		pinned := HeaderChain{Name: chain.Name}
		for _, operator := range chain.Operators {
			pinned.Operators = append(pinned.Operators, OperatorPin{operator.Name(), operator.Digest()})
		}
		f.header.Chains = append(f.header.Chains, pinned)
	}
	return f, f.hash()
}

// hash fills in the hashes of the header.
func (f *frozen) hash() (err error) {
	if f.header.Instrument.CorpusHash, err = corpusHash(f.cases); err != nil {
		return err
	}
	if f.header.Instrument.SeedListHash, err = f.header.seedListHash(); err != nil {
		return err
	}
	f.header.Instrument.SuiteHash, err = f.header.suiteHash()
	return err
}

// seedListHash is BLAKE3 of the list of seeds in canonical JSON.
func (h *Header) seedListHash() (digest.Hash, error) {
	b, err := canon.Marshal(h.Seeds)
	return digest.Sum(b), err
}

// suiteHash is BLAKE3 of {"chains","corpus_hash","fixtures"} in canonical JSON,
// where fixtures maps the name of each tree to its hash.
func (h *Header) suiteHash() (digest.Hash, error) {
	trees := map[string]digest.Hash{}
	for name, tree := range h.Fixtures {
		trees[name] = tree.Hash
	}
	b, err := canon.Marshal(struct {
		Chains     []HeaderChain          `json:"chains"`
		CorpusHash digest.Hash            `json:"corpus_hash"`
		Fixtures   map[string]digest.Hash `json:"fixtures"`
	}{h.Chains, h.Instrument.CorpusHash, trees})
	return digest.Sum(b), err
}

// corpusHash is BLAKE3 of each case in canonical JSON with a newline after it.
func corpusHash(cases []Case) (digest.Hash, error) {
	w := digest.NewWriter()
	for i := range cases {
		b, err := canon.Marshal(&cases[i])
		if err != nil {
			return digest.Hash{}, fmt.Errorf("case %s: %w", cases[i].ID, err)
		}
		w.Write(append(b, '\n'))
	}
	return w.Sum(), nil
}

// simulated reports whether a model is litmus' own stand-in for one.
func simulated(model string) bool { return strings.HasPrefix(model, "sim:") }

// withoutSim drops the scripts of simulated models. What they say must not be in
// any hash that the run of a real model carries.
func withoutSim(cases []Case) []Case {
	bare := make([]Case, len(cases))
	for i, c := range cases {
		c.Sim = nil
		bare[i] = c
	}
	return bare
}

// checkSeeds looks at seeds that may have come past the suite.
func checkSeeds(seeds []int64) error {
	seen := map[int64]bool{}
	for _, seed := range seeds {
		switch {
		case seed > canon.MaxInteger || seed < -canon.MaxInteger:
			return &inputerror.Error{Field: "seeds", Msg: fmt.Sprintf("%d is beyond 2^53-1, which JSON can't hold exactly", seed)}
		case seen[seed]:
			return &inputerror.Error{Field: "seeds", Msg: fmt.Sprintf("%d is there twice", seed), Fix: "name each seed once"}
		}
		seen[seed] = true
	}
	return nil
}
