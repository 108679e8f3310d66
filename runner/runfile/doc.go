// Package runfile keeps one run in one file: the manifest verbatim, every
// attempt written ahead of its box, transcripts and evidence, the judge inputs,
// one canonical record per instance, and the seal over them.
//
// What it promises:
//
//   - What a call has returned from survives kill -9 and power loss. Each call
//     is one transaction; nothing is ever half there.
//   - An instance gets one record, once. A second one is refused with
//     ErrCommitted, and no record is ever changed.
//   - A SCORED record has every scoring input, or there is none: ErrNotScorable.
//   - Equal records seal to equal roots, in whatever order, by whatever number
//     of processes and attempts they came about.
//   - Nothing that reads a file trusts it: blobs are decompressed up to their
//     stated size only, and a damaged file is an error, never a panic.
//
// It knows nothing of boxes, models and judges: what they say reaches it as
// bytes, hashes and the words of Record. It reads no clock and no environment.
//
// Start at Create and Resume (to write), Open (to read) and Verify. The format
// is described, enough for a second implementation, in docs/run-file.md.
package runfile
