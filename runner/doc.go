// Package runner joins the rooms: it takes a suite or a manifest, runs every
// instance in a box of its own, has what happened judged, and writes one sealed
// run file; and it reads run files back for the verbs that list, show, verify
// and gate them.
//
// It is the only package that knows more than one room. Values cross from one
// room's types to another's in join.go and nowhere else; disposition.go holds
// the one function from what happened to a disposition. It knows nothing of
// flags, terminals or exit codes. Start with Run.
package runner
