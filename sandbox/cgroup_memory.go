package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryUse is what the memory controller counted.
type memoryUse struct {
	oomKills int64 // processes killed because the limit was reached
	peak     int64 // bytes; 0 where the kernel does not say
}

// memory reads what the box used. Its cgroup must still be there.
func (cs cgroupSet) memory() (memoryUse, error) {
	dir, events, peak := "", "memory.oom_control", "memory.max_usage_in_bytes"
	if c := cs.controller("memory"); c != nil {
		dir = c.dir
	} else if c := cs.unified(); c != nil {
		dir, events, peak = c.dir, "memory.events", "memory.peak"
	}
	text, err := os.ReadFile(filepath.Join(dir, events))
	if err != nil {
		return memoryUse{}, fmt.Errorf("reading memory events: %w", err)
	}
	kills, err := parseOOMKills(string(text))
	if err != nil {
		return memoryUse{}, fmt.Errorf("reading %s: %w", events, err)
	}
	use := memoryUse{oomKills: kills}
	// Before Linux 5.19 version 2 does not keep the peak.
	if text, err := os.ReadFile(filepath.Join(dir, peak)); err == nil {
		use.peak, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return memoryUse{}, fmt.Errorf("reading %s: %w", peak, err)
		}
	}
	return use, nil
}

// parseOOMKills reads memory.oom_control of version 1 or memory.events of
// version 2: both have a line oom_kill.
func parseOOMKills(text string) (int64, error) {
	counters, err := parseCounters(text)
	if err != nil {
		return 0, err
	}
	kills, ok := counters["oom_kill"]
	if !ok {
		return 0, errNoCounter
	}
	return kills, nil
}
