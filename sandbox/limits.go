package sandbox

import (
	"errors"
	"fmt"
)

func (l Limits) check() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"memory", l.Memory}, {"writable", l.Writable}, {"output", l.Output}, {"pids", int64(l.Pids)},
		{"inodes", int64(l.Inodes)}, {"open files", int64(l.OpenFiles)}, {"deadline", int64(l.Deadline)},
	} {
		if limit.value <= 0 {
			return fmt.Errorf("%s is %d: every limit must be positive", limit.name, limit.value)
		}
	}
	if l.Writable >= roomForStaging || int64(l.Inodes) >= roomForStaging {
		return errors.New("writable bytes and inodes must be less than 2^40")
	}
	return nil
}
