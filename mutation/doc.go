// Package mutation turns a suite into a manifest: every case, mutated by every
// chain with every seed, hashed and frozen before anything runs.
//
// The words. A case is one adversarial scenario. An operator is a pure function
// from (rng, case) to messages. A chain is a named list of operators; `plain` is
// the customary name of the empty one. An instance is case × chain × seed, named
// CASE/CHAIN/sSEED. The manifest lists all instances and everything else that a
// run needs.
//
// What the package promises: the manifest is a function of the suite's bytes and
// of Pins. It comes out the same, byte for byte, on any machine and with any
// number of cores, and adding a case, a chain or a seed changes the line of no
// other instance. An operator sees nothing but its rng and its case, so nothing
// that happens later can reach it.
//
// It knows nothing of containers, models and judges: a rubric is text here, and
// the digest of an image is handed in. docs/suite.md describes what is read,
// docs/manifest.md what is written. Start at Load and Materialize; NewReader
// reads a manifest back.
package mutation
