package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// freezer stops every process of a box at once, without asking the runtime.
type freezer struct {
	control, frozen, thawed string // the file to write to, and what
	state                   string // the file that says when it is done
	isFrozen                func(state string) bool
}

// freezer is that of version 1 where the box is in its hierarchy, because the
// runtime uses that too; otherwise that of version 2.
func (cs cgroupSet) freezer() freezer {
	if c := cs.controller("freezer"); c != nil {
		file := filepath.Join(c.dir, "freezer.state")
		return freezer{file, "FROZEN", "THAWED", file, isFrozenV1}
	}
	dir := cs.unified().dir
	return freezer{filepath.Join(dir, "cgroup.freeze"), "1", "0", filepath.Join(dir, "cgroup.events"), isFrozenV2}
}

// isFrozenV1 reads freezer.state, which is FREEZING before it is FROZEN.
func isFrozenV1(state string) bool { return strings.TrimSpace(state) == "FROZEN" }

// isFrozenV2 reads cgroup.events.
func isFrozenV2(events string) bool {
	counters, err := parseCounters(events)
	return err == nil && counters["frozen"] == 1
}

// freeze returns when every process has stopped.
func (f freezer) freeze(ctx context.Context) error {
	if err := os.WriteFile(f.control, []byte(f.frozen), 0); err != nil {
		return fmt.Errorf("freezing: %w", err)
	}
	return waitUntil(ctx, "freezing", func() (bool, error) {
		state, err := os.ReadFile(f.state)
		return f.isFrozen(string(state)), err
	})
}

func (f freezer) thaw() error {
	if err := os.WriteFile(f.control, []byte(f.thawed), 0); err != nil {
		return fmt.Errorf("thawing: %w", err)
	}
	return nil
}

// waitUntil asks done until it says so. It is for states of the kernel that it
// does not announce; the pauses grow from 100 µs to 20 ms.
func waitUntil(ctx context.Context, what string, done func() (bool, error)) error {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := done()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}
