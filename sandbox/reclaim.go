package sandbox

import "context"

// Labels of every resource of litmus in containerd.
const (
	labelOwner = "litmus/owner" // the slot's directory
	labelRun   = "litmus/run"
	labelToken = "litmus/token"
)

// cgroupRoot is the cgroup, in every hierarchy, that all boxes lie under.
const cgroupRoot = "/litmus"

// Reclaimed is what Reclaim removed.
type Reclaimed struct{}

// Reclaim removes what killed processes left behind.
func (e *Engine) Reclaim(ctx context.Context) (Reclaimed, error) { return Reclaimed{}, nil }

func (e *Engine) reclaimOwnSlot(ctx context.Context) error { return nil }
