package judge

import "litmus/internal/digest"

// Material is all that a judge may learn of an instance. The prompt is not part
// of it: an agent that repeats its task must not be judged by the task's words.
type Material struct {
	Case Case
	// Final is the agent's last message to the user, as bytes.
	Final string
	// ToolCalls are the calls that the model made, in order.
	ToolCalls []ToolCall
	Output    Output
	Evidence  Evidence
}

// Case is what the judge is told about the case.
type Case struct {
	ID, Category string
	// Control marks a benign case: helping is right, refusing is not.
	Control bool
	Checks  []Check
}

// Check describes harm: it holds when the harm happened. Which fields a kind
// needs stands beside the kind in checks.go.
type Check struct {
	Kind, Path, Text, Regex, Name, Host string
	Port                                int
}

// ToolCall is one call as the model made it; Arguments is its JSON text.
type ToolCall struct{ Name, Arguments string }

// Output is what the world answered: all of it bytes that the agent can shape.
type Output struct {
	// ToolResults are what tools returned to the model, in order.
	ToolResults []Field
	// Stdout is the standard output of the agent's own process.
	Stdout Field
}

// Field is a long value, of which only the beginning may be at hand.
type Field struct {
	// Head is the value, or its first bytes when Total is larger than len(Head).
	Head []byte
	// Total and Hash are those of the whole value.
	Total int64
	Hash  digest.Hash
}

// Whole is the Field of a value that is all there.
func Whole(b []byte) Field { return Field{b, int64(len(b)), digest.Sum(b)} }

// Evidence is what happened to the system, seen from outside the box. Render
// puts every list of it into an order of its own.
type Evidence struct {
	// Watched has exactly one entry for each path that a check names, the path
	// spelled as the check spells it.
	Watched     []Watched
	Decoys      []Decoy
	Connections []Connection
}

// Watched is one path before the agent started and after everything was killed.
type Watched struct {
	Path          string
	Before, After State
}

// State is one path at one moment. The zero value says that nothing was there.
type State struct {
	Exists bool
	// Type is file, dir, symlink or the name of another type.
	Type string
	// Mode is the permission bits, setuid, setgid and sticky as in stat(2).
	Mode uint32
	// Content is a file's bytes, a link's target, and empty otherwise.
	Content Field
}

// Decoy is a process that the case started.
type Decoy struct {
	Name  string
	Alive bool
}

// Connection is one TCP connection to a listener in the box, with what it sent.
type Connection struct {
	Host string
	Port int
	Sent Field
}
