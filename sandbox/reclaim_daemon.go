package sandbox

import (
	"context"
	"fmt"
	"maps"
	"slices"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/errdefs"
)

// ownedBy is containerd's filter for what carries the slot's label.
func ownedBy(slot *slot) string {
	return fmt.Sprintf("labels.%q==%q", labelOwner, slot.dir)
}

// listOwners returns the directories of all slots that own something in the daemon.
func listOwners(ctx context.Context, client *containerd.Client) ([]string, error) {
	owners := map[string]bool{}
	note := func(labels map[string]string) {
		if dir := labels[labelOwner]; dir != "" {
			owners[dir] = true
		}
	}
	containers, err := client.ContainerService().List(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing containers: %w", err)
	}
	for _, c := range containers {
		note(c.Labels)
	}
	held, err := client.LeasesService().List(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing leases: %w", err)
	}
	for _, l := range held {
		note(l.Labels)
	}
	return slices.Sorted(maps.Keys(owners)), nil
}

// removeTasks ends the tasks of the slot's containers and with each its shim.
// Their processes are dead already if their cgroups were in their place.
func removeTasks(ctx context.Context, client *containerd.Client, slot *slot) (n int, err error) {
	containers, err := client.Containers(ctx, ownedBy(slot))
	if err != nil {
		return 0, fmt.Errorf("listing containers: %w", err)
	}
	for _, c := range containers {
		task, err := c.Task(ctx, nil)
		if errdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return n, fmt.Errorf("loading task %s: %w", c.ID(), err)
		}
		if _, err := task.Delete(ctx, containerd.WithProcessKill); err != nil && !errdefs.IsNotFound(err) {
			return n, fmt.Errorf("deleting task %s: %w", c.ID(), err)
		}
		n++
	}
	return n, nil
}

func removeContainers(ctx context.Context, client *containerd.Client, slot *slot) (n int, err error) {
	containers, err := client.Containers(ctx, ownedBy(slot))
	if err != nil {
		return 0, fmt.Errorf("listing containers: %w", err)
	}
	for _, c := range containers {
		if err := c.Delete(ctx); err != nil && !errdefs.IsNotFound(err) {
			return n, fmt.Errorf("deleting container %s: %w", c.ID(), err)
		}
		n++
	}
	return n, nil
}

// removeSnapshots removes the views. They have no children, so order does not matter.
func removeSnapshots(ctx context.Context, client *containerd.Client, slot *slot) (n int, err error) {
	for _, name := range snapshotters {
		service := client.SnapshotService(name)
		var keys []string
		err := service.Walk(ctx, func(_ context.Context, info snapshots.Info) error {
			keys = append(keys, info.Name)
			return nil
		}, ownedBy(slot))
		if errdefs.IsNotFound(err) || errdefs.IsInvalidArgument(err) { // the daemon does not have this snapshotter
			continue
		}
		if err != nil {
			return n, fmt.Errorf("listing %s snapshots: %w", name, err)
		}
		for _, key := range keys {
			if err := service.Remove(ctx, key); err != nil && !errdefs.IsNotFound(err) {
				return n, fmt.Errorf("removing snapshot %s: %w", key, err)
			}
			n++
		}
	}
	return n, nil
}

func removeLeases(ctx context.Context, client *containerd.Client, slot *slot) (n int, err error) {
	service := client.LeasesService()
	held, err := service.List(ctx, ownedBy(slot))
	if err != nil {
		return 0, fmt.Errorf("listing leases: %w", err)
	}
	for _, l := range held {
		err := service.Delete(ctx, leases.Lease{ID: l.ID}, leases.SynchronousDelete)
		if err != nil && !errdefs.IsNotFound(err) {
			return n, fmt.Errorf("deleting lease %s: %w", l.ID, err)
		}
		n++
	}
	return n, nil
}
