// Package gateway is the model as a box sees it: an HTTP server, one for each
// attempt, on a socket that the runner hands in. It speaks OpenAI Chat
// Completions, sends each request on to an Upstream with the sampling
// parameters and the model that the manifest pins, relays the answer as it
// comes, and records both as bytes.
//
// It promises three things. What reaches the model differs from what the agent
// sent in the pinned fields only (edit.go). The Transcript holds every exchange,
// in one order, without anything that depends on time (transcript.go). And
// nothing is fetched on the agent's behalf: a request that would make a provider
// open a URL, look up a file or run a tool is refused (refuse.go).
//
// Everything that comes from the box is hostile: see limits.go. Keys live in an
// upstream and go nowhere else: see secret.go.
//
// The package knows nothing of boxes, manifests or run files. Start with Serve;
// docs/gateway.md has the formats.
package gateway
