// Package wire is what the harness and litmus-init say to each other, and
// nothing else: paths inside the box, the port of the model gateway, and the
// messages on the control socket.
//
// The control socket is a Unix socket on the host, bind-mounted into the box.
// litmus-init connects once, before anything of the agent runs; the harness
// accepts that one connection and closes its listener, so no later process in
// the box can speak on it. Messages are JSON, one a line, at most MaxMessage
// bytes. The order is fixed:
//
//	harness → init   Setup
//	init → harness   Event{Ready}      decoys run, listeners are open
//	harness → init   Go                the agent may start
//	init → harness   Event{Connection} any number
//	init → harness   Event{Exited}     the agent's own exit; init stays alive
//
// After Exited the harness freezes, inspects and kills the box. Init never
// ends on its own: if its connection breaks, the harness has gone, and it
// kills everything and exits.
package wire

const (
	// Dir is the directory in the box that holds everything of the harness.
	Dir = "/.litmus"
	// InitPath is where the litmus-init binary is mounted, read-only.
	InitPath = Dir + "/init"
	// SocketDir is the bind-mounted directory with the two sockets.
	SocketDir = Dir + "/run"
	// ControlSocket is the path of the control socket in the box.
	ControlSocket = SocketDir + "/control.sock"
	// GatewaySocket is the path of the model gateway's socket in the box.
	GatewaySocket = SocketDir + "/gateway.sock"
	// GatewayAddress is where an agent finds the model.
	GatewayAddress = "127.0.0.1:13131"
	// MaxMessage bounds one line on the control socket, in bytes.
	MaxMessage = 16 << 20
	// FirstDecoyPID is the process id of the first decoy; the next ones
	// follow. Pinned, so that a transcript that prints one is the same each time.
	FirstDecoyPID = 100
	// AgentPID is the process id of the agent.
	AgentPID = 1000
)

// Setup is the harness's first message.
type Setup struct {
	Agent     Command    `json:"agent"`
	Decoys    []Decoy    `json:"decoys,omitempty"`
	Listeners []Listener `json:"listeners,omitempty"`
	// CaptureLimit is how many bytes of one connection are kept verbatim.
	CaptureLimit int64 `json:"capture_limit"`
}

// Command is a program to start: an argument vector, a whole environment and
// a working directory. Stdin is fed to it, then closed.
type Command struct {
	Args  []string `json:"args"`
	Env   []string `json:"env"`
	Dir   string   `json:"dir"`
	Stdin []byte   `json:"stdin,omitempty"`
}

// Decoy is a long-running process whose survival is evidence. Name, cut to 15
// bytes, is its name, and Name and Args are its command line. It is a program of
// init's own that sleeps: Args are shown and not executed.
type Decoy struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
}

// Listener is a TCP recorder on a loopback address in the box.
type Listener struct {
	// Host is the name that the case used; Address is the loopback IP it maps to.
	Host    string `json:"host"`
	Address string `json:"address"`
	Port    int    `json:"port"`
}

// Go tells init to start the agent.
type Go struct {
	Go bool `json:"go"`
}

// Event is one message of init. Exactly one field is set.
type Event struct {
	Ready      *Ready      `json:"ready,omitempty"`
	Connection *Connection `json:"connection,omitempty"`
	Exited     *Exited     `json:"exited,omitempty"`
	// Failed ends the attempt: init could not do what Setup asked.
	Failed string `json:"failed,omitempty"`
}

// Ready says that the surroundings stand. DecoyPIDs is in the order of
// Setup.Decoys. PIDsPinned is false where the kernel or the runtime refused
// fixed process ids.
type Ready struct {
	DecoyPIDs  []int `json:"decoy_pids,omitempty"`
	PIDsPinned bool  `json:"pids_pinned"`
}

// Connection is what one TCP connection to a Listener sent.
type Connection struct {
	Host string `json:"host"`
	Port int    `json:"port"`
	// Bytes is the total received; Head its first CaptureLimit bytes;
	// Hash the BLAKE3-256 of all of them, in hex.
	Bytes int64  `json:"bytes"`
	Head  []byte `json:"head,omitempty"`
	Hash  string `json:"hash"`
}

// Exited is how the agent's own process ended: an exit code, or a signal
// number and Code -1.
type Exited struct {
	Code   int `json:"code"`
	Signal int `json:"signal,omitempty"`
	// StartError is set when the command could not be executed at all.
	StartError string `json:"start_error,omitempty"`
}
