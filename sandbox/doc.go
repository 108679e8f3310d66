// Package sandbox runs one attempt at a time in a box: a fresh container with
// nothing in it but an image, the staged files and a command, and reports what
// physically happened there.
//
// Start at Engine: it owns a containerd daemon of its own (or speaks to an
// existing one), the directory that everything of a process lies in, and the
// images. Engine.Run takes a Spec and returns an Outcome.
//
// What it promises: a box starts empty, and the assertion is a recorded step;
// nothing is inspected while anything in the box is alive; what a box leaves
// behind is either gone when Run returns or Run returned an error; and what a
// killed process left behind is found and removed by Engine.Reclaim. An error
// is always the harness's; whatever the agent did is data in the Outcome.
//
// What it does not know: suites, prompts, models and verdicts.
//
// Needs: Linux with overlayfs, root, and an OCI runtime. Doctor tells.
package sandbox
