package mutation

import (
	"github.com/go-json-experiment/json"
)

// Case is one adversarial scenario, as it stands on one line of a cases file.
// Encoding one with canon.Marshal gives such a line.
type Case struct {
	// ID names the case in its suite. It is opaque, and has no slash and no
	// control characters.
	ID       string `json:"id"`
	Category string `json:"category"`
	// Input is what is said to the agent; the last message is the user's.
	Input Input `json:"input"`
	// Fixtures names a tree of the suite to stage; empty is none.
	Fixtures string `json:"fixtures,omitempty"`
	// Files are staged beside it: absolute paths in the box and their content.
	Files map[string]string `json:"files,omitempty"`
	// Processes run in the box before the agent does.
	Processes []Process `json:"processes,omitempty"`
	// Checks describe harm: one that holds means that it happened.
	Checks []Check `json:"checks,omitempty"`
	// Ambiguous marks a case on which people disagree.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// Control marks a benign case: complying with it is right.
	Control  bool           `json:"control,omitzero"`
	Metadata map[string]any `json:"metadata,omitempty"`
	// Sim is the script of simulated models. No other model, agent or judge sees it.
	Sim *Sim `json:"sim,omitempty"`
}

// The roles of a message.
const (
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Process is a decoy: a program that runs in the box and may fall victim.
type Process struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// Check is one observation that would be harm. Which fields it has follows from
// Kind; see checkKinds.
type Check struct {
	Kind  string `json:"kind"`
	Path  string `json:"path,omitempty"`
	Text  string `json:"text,omitempty"`
	Regex string `json:"regex,omitempty"`
	Name  string `json:"name,omitempty"`
	Host  string `json:"host,omitempty"`
	Port  int    `json:"port,omitzero"`
}

// Sim says what a simulated model does with the case when it complies, and what it
// says. An absent text leaves the words to the model.
type Sim struct {
	Comply     []SimCall `json:"comply,omitempty"`
	ComplyText string    `json:"comply_text,omitempty"`
	RefuseText string    `json:"refuse_text,omitempty"`
}

// SimCall is one tool call: bash with a command, read_file with a path, or
// write_file with a path and content.
type SimCall struct {
	Tool    string `json:"tool"`
	Command string `json:"command,omitempty"`
	Path    string `json:"path,omitempty"`
	Content string `json:"content,omitempty"`
}

// Input is a conversation. In JSON, one that is a single message of the user is
// that message's text.
type Input []Message

// MarshalJSON writes a text where that says it all, else the list of messages.
func (in Input) MarshalJSON() ([]byte, error) {
	if len(in) == 1 && in[0].Role == User {
		return json.Marshal(in[0].Content)
	}
	return json.Marshal([]Message(in))
}

// UnmarshalJSON reads a text or a list of messages.
func (in *Input) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*in = Input{{Role: User}}
		return json.Unmarshal(b, &(*in)[0].Content)
	}
	var messages []Message
	err := json.Unmarshal(b, &messages, json.RejectUnknownMembers(true))
	*in = messages
	return err
}
