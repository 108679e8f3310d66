package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
)

// Labels of every resource of litmus in containerd.
const (
	labelOwner = "litmus/owner" // the slot's directory
	labelRun   = "litmus/run"
	labelToken = "litmus/token"
)

// reclaimTimeout bounds the work on one slot.
const reclaimTimeout = 2 * time.Minute

// Reclaimed counts what was removed, each thing once.
type Reclaimed struct {
	Tasks       int `json:"tasks"`
	Containers  int `json:"containers"`
	Shims       int `json:"shims"`
	Processes   int `json:"processes"` // of boxes, killed by their cgroup
	Cgroups     int `json:"cgroups"`
	Mounts      int `json:"mounts"`
	Snapshots   int `json:"snapshots"`
	Leases      int `json:"leases"`
	Directories int `json:"directories"` // of boxes
	// Unclear are owners whose state directory can't be seen from here, so that
	// it can't be told whether they are alive, and daemons that can't be
	// reached. What they have was left alone.
	Unclear []string `json:"unclear,omitempty"`
}

func (r *Reclaimed) add(other Reclaimed) {
	r.Tasks += other.Tasks
	r.Containers += other.Containers
	r.Shims += other.Shims
	r.Processes += other.Processes
	r.Cgroups += other.Cgroups
	r.Mounts += other.Mounts
	r.Snapshots += other.Snapshots
	r.Leases += other.Leases
	r.Directories += other.Directories
	r.Unclear = append(r.Unclear, other.Unclear...)
}

// Reclaim removes what litmus processes that did not end by themselves left
// behind: in every slot of the state directory whose owner is dead, and in an
// existing daemon whatever carries a dead owner's label. What a living process
// owns is not touched, this engine's own included; what Open found in this
// engine's slot counts. An error says what could not be removed; calling it
// again goes on from there.
func (e *Engine) Reclaim(ctx context.Context) (Reclaimed, error) {
	e.lock.Lock()
	total := e.atOpen
	e.atOpen = Reclaimed{}
	e.lock.Unlock()
	errs := []error{e.reclaimSlots(ctx, &total)}
	if e.config.Address != "" {
		errs = append(errs, e.reclaimOwners(ctx, &total))
	}
	return total, errors.Join(errs...)
}

// reclaimSlots goes through the slots of the state directory.
func (e *Engine) reclaimSlots(ctx context.Context, total *Reclaimed) error {
	entries, err := os.ReadDir(e.config.StateDir)
	if err != nil {
		return fmt.Errorf("listing slots: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		dir := filepath.Join(e.config.StateDir, entry.Name())
		if _, err := strconv.Atoi(entry.Name()); err != nil || !entry.IsDir() || dir == e.slot.dir {
			continue
		}
		got, err := e.reclaimOwner(ctx, dir)
		total.add(got)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// reclaimOwners goes through the owners named in the existing daemon.
func (e *Engine) reclaimOwners(ctx context.Context, total *Reclaimed) error {
	owners, err := listOwners(ctx, e.client)
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range owners {
		if dir == e.slot.dir {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			total.Unclear = append(total.Unclear, dir)
			continue
		}
		got, err := e.reclaimOwner(ctx, dir)
		total.add(got)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// reclaimOwner reclaims the slot in dir unless it has a living owner.
func (e *Engine) reclaimOwner(ctx context.Context, dir string) (Reclaimed, error) {
	slot, err := lockSlot(dir)
	if errors.Is(err, errSlotTaken) {
		return Reclaimed{}, nil
	}
	if err != nil {
		return Reclaimed{}, err
	}
	got, err := e.reclaimSlot(ctx, slot)
	return got, errors.Join(err, slot.release(ctx, err == nil))
}

// reclaimSlot removes everything of a slot that this process holds the lock
// of, in each daemon that its dead owners used. An existing daemon that can't
// be reached stays noted in the slot and is reported; it may be back later.
func (e *Engine) reclaimSlot(ctx context.Context, slot *slot) (total Reclaimed, err error) {
	ctx, cancel := context.WithTimeout(ctx, reclaimTimeout)
	defer cancel()
	var unreached []string
	for _, address := range slot.unclean {
		got, err := e.reclaimFrom(ctx, slot, address)
		total.add(got)
		if errors.Is(err, errUnreachable) && address != "" {
			unreached = append(unreached, address)
			total.Unclear = append(total.Unclear, address)
			continue
		}
		if err != nil {
			return total, fmt.Errorf("reclaiming %s: %w", slot.dir, err)
		}
	}
	slot.unclean = unreached
	return total, nil
}

// reclaimFrom reclaims with one daemon. A private one that is not running is
// started again on the slot's directories: it finds its containers and their
// shims there.
func (e *Engine) reclaimFrom(ctx context.Context, slot *slot, address string) (_ Reclaimed, err error) {
	if address == e.config.Address && (address != "" || slot == e.slot) {
		return reclaimAll(ctx, e.client, slot)
	}
	if address == "" {
		if e.config.Exe == "" {
			return Reclaimed{}, errors.New("no litmus binary given to start its private daemon with")
		}
		d, err := startDaemon(ctx, e.config.Exe, slot)
		if err != nil {
			return Reclaimed{}, err
		}
		defer func() { err = errors.Join(err, d.stop(ctx)) }()
		address = d.address
	}
	client, err := connect(ctx, address)
	if err != nil {
		got, hostErr := reclaimHost(ctx, slot)
		return got, errors.Join(err, hostErr)
	}
	defer client.Close()
	return reclaimAll(ctx, client, slot)
}

// reclaimAll is the order of the work, on one slot and one daemon: first
// nothing of the slot's boxes may run, then what they used can go.
func reclaimAll(ctx context.Context, client *containerd.Client, slot *slot) (got Reclaimed, err error) {
	if got.Processes, err = killCgroups(ctx, slot); err != nil {
		return got, err
	}
	if got.Tasks, err = removeTasks(ctx, client, slot); err != nil {
		return got, err
	}
	if got.Containers, err = removeContainers(ctx, client, slot); err != nil {
		return got, err
	}
	host, err := reclaimHost(ctx, slot)
	got.add(host)
	if err != nil {
		return got, err
	}
	if got.Snapshots, err = removeSnapshots(ctx, client, slot); err != nil {
		return got, err
	}
	got.Leases, err = removeLeases(ctx, client, slot)
	return got, err
}

// reclaimHost removes what does not need a daemon to be removed.
func reclaimHost(ctx context.Context, slot *slot) (got Reclaimed, err error) {
	if got.Processes, err = killCgroups(ctx, slot); err != nil {
		return got, err
	}
	if got.Shims, err = killShims(ctx, slot); err != nil {
		return got, err
	}
	if got.Cgroups, err = removeCgroups(ctx, slot); err != nil {
		return got, err
	}
	if got.Mounts, err = unmountBoxes(slot); err != nil {
		return got, err
	}
	got.Directories, err = removeBoxDirs(slot)
	return got, err
}
