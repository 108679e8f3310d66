package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
)

// pidsRefused is how many times the box could not have another process or
// thread. The file is the same in both versions.
func (cs cgroupSet) pidsRefused() (int64, error) {
	c := cs.controller("pids")
	if c == nil {
		c = cs.unified()
	}
	text, err := os.ReadFile(filepath.Join(c.dir, "pids.events"))
	if err != nil {
		return 0, fmt.Errorf("reading pids events: %w", err)
	}
	refused, err := parsePidsEvents(string(text))
	if err != nil {
		return 0, fmt.Errorf("reading pids.events: %w", err)
	}
	return refused, nil
}

func parsePidsEvents(text string) (int64, error) {
	counters, err := parseCounters(text)
	if err != nil {
		return 0, err
	}
	refused, ok := counters["max"]
	if !ok {
		return 0, errNoCounter
	}
	return refused, nil
}
