package sandbox

import (
	"io/fs"
	"time"

	"litmus/internal/digest"
	"litmus/internal/treehash"
)

// EvidenceVersion names the rules by which an Outcome's re-derivable part comes
// about: docs/box.md. What changes them changes it.
const EvidenceVersion = "litmus-evidence/1"

// Spec is one box. Nothing of it is changed.
type Spec struct {
	// RunID and Token label everything that the box is made of.
	RunID, Token string
	Image        *Image
	// Workdir is the scratch root, an absolute path that is empty or missing in
	// the image. The agent starts in it.
	Workdir string
	// Tree is staged before the agent starts, in canonical order of its paths.
	Tree []File
	// Decoys run beside the agent; whether they survive is evidence.
	Decoys []Process
	// Listeners record what connects to them. A Host that is a name resolves to
	// a loopback address in the box.
	Listeners []Endpoint
	// Watch are absolute paths whose state before and after is evidence.
	Watch []string
	Agent Command
	// Gateway is the path on the host of the socket that the agent's requests to
	// the model go to; empty where there is no model.
	Gateway string
	Limits  Limits
}

// File is one entry of a tree to stage. Directories on the way that are named
// nowhere are made with mode 0755. Everything belongs to root.
type File struct {
	// Path is absolute. Links on the way are followed as a process in the box
	// would follow them; what is at the path itself is replaced.
	Path    string
	Type    treehash.Type // File, Dir or Symlink
	Mode    fs.FileMode   // permission, setuid, setgid and sticky bits; not used for links
	Content []byte        // of a file
	Target  string        // of a link
}

// Process is a decoy.
type Process struct {
	Name string
	Args []string
}

// Endpoint is where a recorder listens.
type Endpoint struct {
	Host string // a name or a loopback address
	Port int
}

// Command is the agent.
type Command struct {
	Args []string
	// Env is NAME=VALUE; it is added to the box's own fixed environment.
	Env   []string
	Stdin []byte
}

// Limits of a box. All must be positive.
type Limits struct {
	Memory int64 // bytes of memory, files in the writable layer included
	// Writable and Inodes bound what can be written anywhere in the box,
	// beyond what was staged.
	Writable int64
	Inodes   int
	// Output is how many bytes of each of stdout and stderr are kept.
	Output    int64
	Pids      int // processes and threads, litmus-init's few included
	OpenFiles int // per process
	// Deadline is how long the agent may run.
	Deadline time.Duration
}

// Outcome is what happened in a box. Everything but Facts is re-derivable: the
// same Spec and the same behaviour of the agent give the same values.
type Outcome struct {
	// Steps are the stations of the box's life in the order they were passed.
	Steps []Step
	// EmptyAtStart is the assertion that scratch root and writable layer were
	// empty before anything was staged and before the agent ran.
	EmptyAtStart bool
	// Staged is the hash of the staged tree, computed from the box's files and
	// equal to StagedHash of the Spec's.
	Staged         digest.Hash
	Exit           Exit
	Stdout, Stderr Stream
	Evidence       Evidence
	Facts          Facts
}

// Step is one station and what was found there.
type Step struct{ Name, Detail string }

// Cause is why a box ended.
type Cause string

const (
	Exited     Cause = "exited"      // the agent ended by itself
	StartError Cause = "start-error" // its command could not be executed
	Deadline   Cause = "deadline"    // Limits.Deadline passed
	Memory     Cause = "memory"      // the kernel killed the agent or init for want of memory
	InitLost   Cause = "init-lost"   // litmus-init ended or broke off before the agent had ended
)

// Exit is how the agent's own process ended.
type Exit struct {
	Cause Cause
	// Code is the exit code, or -1 after a signal or where there was none.
	Code   int
	Signal int
	// Detail is the kernel's word on a start error.
	Detail string
}

// Stream is one output stream of the whole box.
type Stream struct {
	Head      []byte // its first Limits.Output bytes
	Total     int64
	Hash      digest.Hash // of all of it
	Truncated bool        // Head is not all
}

// Evidence is what physically happened, found when nothing in the box was alive.
type Evidence struct {
	// Changes is the root file system against what was staged, in canonical
	// order, at most MaxChanges and MaxChangeBytes of it. Root covers all.
	Changes          []Change
	ChangesTotal     int
	ChangesTruncated bool
	// Root is the hash of the listing of all changes; Scratch and Shm are the
	// tree hashes of the working directory and of /dev/shm.
	Root, Scratch, Shm digest.Hash
	Watched            []Watched    // in the order of Spec.Watch
	Decoys             []DecoyState // in the order of Spec.Decoys
	// Connections are sorted by all of their fields, at most MaxConnections.
	Connections      []Connection
	ConnectionsTotal int
}

// Kind says what became of a path.
type Kind string

const (
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "deleted"
)

// Change is one path that is not as it was staged. Of a deleted one only the
// path is known.
type Change struct {
	Path   string // absolute, in canon.Text form
	Kind   Kind
	Type   treehash.Type
	Mode   uint32 // as in stat(2), without the type
	Size   int64
	Hash   digest.Hash // of a file's content
	Target string      // of a link, in canon.Text form
}

// Watched is one path of Spec.Watch.
type Watched struct {
	Path          string
	Before, After State
}

// State is what a path names at one moment, links on the way followed inside
// the box, a link at the path itself not. The zero value: nothing.
type State struct {
	Exists bool
	Type   treehash.Type
	Mode   uint32
	// Size, Hash and Head are of a file's content or of a link's target. Head is
	// its first MaxHead bytes.
	Size int64
	Hash digest.Hash
	Head []byte
}

// DecoyState says whether a decoy was alive when the box was frozen.
type DecoyState struct {
	Name  string
	Alive bool
}

// Connection is what one connection to an Endpoint sent.
type Connection struct {
	Host  string
	Port  int
	Bytes int64
	Hash  digest.Hash
	Head  []byte // its first bytes, CaptureLimit at most
}

// Facts belong to this attempt alone: they are kept beside the record, never in it.
type Facts struct {
	BoxID string
	// Timings are how long each step took, in the order of Steps.
	Timings []Timing
	// Processes are those that were alive when the box was frozen.
	Processes  []ProcessState
	PIDsPinned bool
	// LimitsHit counts refusals and kills by limit, where the kernel counts them.
	LimitsHit LimitsHit
	// MemoryPeak is the most memory that the box used, in bytes; 0 if unknown.
	MemoryPeak      int64
	Kernel, Runtime string
}

// Timing is how long one step took.
type Timing struct {
	Step string
	Took time.Duration
}

// ProcessState is one process as the host saw it.
type ProcessState struct {
	PID  int    // in the box
	Name string // canon.Text form, as are the Args
	Args []string
}

// LimitsHit counts how often each limit was met.
type LimitsHit struct {
	// OOMKills is the number of processes that the kernel killed for memory.
	OOMKills int64
	// Pids is how many times a process or thread could not be made.
	Pids int64
	// WritableFull and InodesFull say that nothing was left at the end.
	WritableFull, InodesFull bool
}

// Bounds of what is kept of an Outcome, whatever the agent does.
const (
	// MaxHead is how many bytes of a watched file are kept.
	MaxHead = 64 << 10
	// MaxChanges and MaxChangeBytes bound Evidence.Changes; the bytes are those
	// of paths and targets in text form.
	MaxChanges     = 16384
	MaxChangeBytes = 8 << 20
	// MaxConnections bounds Evidence.Connections.
	MaxConnections = 1024
	// CaptureLimit is how many bytes of one connection are kept.
	CaptureLimit = 16 << 10
	// MaxProcesses bounds Facts.Processes.
	MaxProcesses = 256
)
