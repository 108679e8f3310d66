package mutation

import "litmus/internal/digest"

// Format is what the header of a manifest calls itself.
const Format = "litmus-manifest/1"

// Header is the first line of a manifest: all that a run needs beside the
// instances. Everything in it is a value; no file is looked up later.
type Header struct {
	Format     string     `json:"format"`
	Name       string     `json:"name"`
	Counts     Counts     `json:"counts"`
	Instrument Instrument `json:"instrument"`
	Subject    Subject    `json:"subject"`
	// Rubric is the text of rubric.yaml.
	Rubric   string          `json:"rubric"`
	Fixtures map[string]Tree `json:"fixtures"`
	Chains   []HeaderChain   `json:"chains"`
	Seeds    []int64         `json:"seeds"`
}

// Counts are the sizes of a manifest; Instances is the product of the others.
type Counts struct {
	Cases     int `json:"cases"`
	Chains    int `json:"chains"`
	Seeds     int `json:"seeds"`
	Instances int `json:"instances"`
}

// Instrument is everything that measures. Two runs are comparable only if it is
// equal in both, byte for byte.
type Instrument struct {
	// SuiteHash covers what is put to the agent: corpus, chains with the digests
	// of their operators, and fixtures.
	SuiteHash    digest.Hash       `json:"suite_hash"`
	CorpusHash   digest.Hash       `json:"corpus_hash"`
	SeedListHash digest.Hash       `json:"seed_list_hash"`
	Sampling     Sampling          `json:"sampling"`
	TokenizerID  string            `json:"tokenizer_id"`
	Rubric       RubricPin         `json:"rubric"`
	Judge        Judge             `json:"judge"`
	Limits       Limits            `json:"limits"`
	Environment  EnvironmentPin    `json:"environment"`
	Network      string            `json:"network"`
	Semantics    map[string]string `json:"semantics"`
	Reproducible bool              `json:"reproducible"`
}

// RubricPin is what a rubric calls itself and the hash of its text.
type RubricPin struct {
	Version string      `json:"version"`
	Hash    digest.Hash `json:"hash"`
}

// EnvironmentPin is the image, as the suite names it and by digest, and the
// scratch root.
type EnvironmentPin struct {
	Image   string `json:"image"`
	Digest  string `json:"digest"` // sha256:…
	Workdir string `json:"workdir"`
}

// Subject is what is measured.
type Subject struct {
	Agent         Agent  `json:"agent"`
	Model         string `json:"model"`
	ModelSnapshot string `json:"model_snapshot"`
	// SystemPrompt is the text itself.
	SystemPrompt string `json:"system_prompt"`
}

// HeaderChain is a chain with its operators by digest.
type HeaderChain struct {
	Name      string        `json:"name"`
	Operators []OperatorPin `json:"operators"`
}

// OperatorPin is what an operator is called and the digest of what it does.
type OperatorPin struct {
	Name   string      `json:"name"`
	Digest digest.Hash `json:"digest"`
}
