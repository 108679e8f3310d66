package runner

import (
	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/sandbox"
)

// The JSON forms of what a box reports. They are described in docs/run-file.md;
// sandbox.EvidenceVersion counts changes of the first.

type evidenceJSON struct {
	Changes          []changeJSON     `json:"changes"`
	ChangesTotal     int              `json:"changes_total"`
	ChangesTruncated bool             `json:"changes_truncated"`
	Root             digest.Hash      `json:"root"`
	Scratch          digest.Hash      `json:"scratch"`
	Shm              digest.Hash      `json:"shm"`
	Watched          []watchedJSON    `json:"watched"`
	Decoys           []decoyJSON      `json:"decoys"`
	Connections      []connectionJSON `json:"connections"`
	ConnectionsTotal int              `json:"connections_total"`
}

type changeJSON struct {
	Path   string      `json:"path"`
	Kind   string      `json:"kind"`
	Type   string      `json:"type,omitempty"`
	Mode   uint32      `json:"mode,omitempty"`
	Size   int64       `json:"size,omitempty"`
	Hash   digest.Hash `json:"hash,omitzero"`
	Target string      `json:"target,omitempty"`
}

type watchedJSON struct {
	Path   string     `json:"path"`
	Before *stateJSON `json:"before,omitempty"`
	After  *stateJSON `json:"after,omitempty"`
}

type stateJSON struct {
	Type string      `json:"type"`
	Mode uint32      `json:"mode"`
	Size int64       `json:"size"`
	Hash digest.Hash `json:"hash,omitzero"`
	Head string      `json:"head,omitempty"` // text form
}

type decoyJSON struct {
	Name  string `json:"name"`
	Alive bool   `json:"alive"`
}

type connectionJSON struct {
	Host  string      `json:"host"`
	Port  int         `json:"port"`
	Bytes int64       `json:"bytes"`
	Hash  digest.Hash `json:"hash"`
	Head  string      `json:"head,omitempty"` // text form
}

func evidenceForm(e sandbox.Evidence) evidenceJSON {
	form := evidenceJSON{
		Changes: []changeJSON{}, ChangesTotal: e.ChangesTotal, ChangesTruncated: e.ChangesTruncated,
		Root: e.Root, Scratch: e.Scratch, Shm: e.Shm,
		Watched: []watchedJSON{}, Decoys: []decoyJSON{}, Connections: []connectionJSON{}, ConnectionsTotal: e.ConnectionsTotal,
	}
	for _, c := range e.Changes {
		form.Changes = append(form.Changes, changeJSON{c.Path, string(c.Kind), string(c.Type), c.Mode, c.Size, c.Hash, c.Target})
	}
	for _, w := range e.Watched {
		form.Watched = append(form.Watched, watchedJSON{canon.Text([]byte(w.Path)), stateForm(w.Before), stateForm(w.After)})
	}
	for _, d := range e.Decoys {
		form.Decoys = append(form.Decoys, decoyJSON{d.Name, d.Alive})
	}
	for _, c := range e.Connections {
		form.Connections = append(form.Connections, connectionJSON{c.Host, c.Port, c.Bytes, c.Hash, canon.Text(c.Head)})
	}
	return form
}

func stateForm(s sandbox.State) *stateJSON {
	if !s.Exists {
		return nil
	}
	return &stateJSON{string(s.Type), s.Mode, s.Size, s.Hash, canon.Text(s.Head)}
}

// factsJSON is what is true of one attempt on one machine.
type factsJSON struct {
	Box        string             `json:"box,omitempty"`
	Steps      []stepJSON         `json:"steps"`
	Processes  []processJSON      `json:"processes"`
	PIDsPinned bool               `json:"pids_pinned"`
	LimitsHit  limitsHitJSON      `json:"limits_hit"`
	MemoryPeak int64              `json:"memory_peak"`
	Kernel     string             `json:"kernel,omitempty"`
	Runtime    string             `json:"runtime,omitempty"`
	Timings    map[string]float64 `json:"timings_ms"`
}

type stepJSON struct {
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
}

type processJSON struct {
	PID  int      `json:"pid"`
	Name string   `json:"name"`
	Args []string `json:"args"`
}

type limitsHitJSON struct {
	OOMKills     int64 `json:"oom_kills"`
	Pids         int64 `json:"pids"`
	WritableFull bool  `json:"writable_full"`
	InodesFull   bool  `json:"inodes_full"`
}

func factsForm(h *happening) factsJSON {
	f := h.outcome.Facts
	form := factsJSON{
		Box: f.BoxID, Steps: []stepJSON{}, Processes: []processJSON{}, PIDsPinned: f.PIDsPinned,
		LimitsHit:  limitsHitJSON(f.LimitsHit),
		MemoryPeak: f.MemoryPeak, Kernel: f.Kernel, Runtime: f.Runtime, Timings: map[string]float64{},
	}
	for _, s := range h.outcome.Steps {
		form.Steps = append(form.Steps, stepJSON(s))
	}
	for _, t := range f.Timings {
		form.Timings[t.Step] = float64(t.Took.Microseconds()) / 1000
	}
	for _, p := range f.Processes {
		args := append([]string{}, p.Args...)
		form.Processes = append(form.Processes, processJSON{p.PID, p.Name, args})
	}
	return form
}
