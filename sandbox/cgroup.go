package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// cgroup is one cgroup of a box: with version 2 there is one, with version 1
// one for each hierarchy, and on a hybrid machine both.
type cgroup struct {
	dir         string
	unified     bool
	controllers []string // of version 1
}

// cgroupSet is all cgroups of a box.
type cgroupSet []cgroup

// findCgroups finds the cgroups of a box by the process that is in them. A
// hierarchy in which the runtime has given the box no cgroup of its own, by its
// id, is left out: it is shared with others.
func findCgroups(pid int, id string) (cgroupSet, error) {
	text, err := readProc(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("reading cgroups: %w", err)
	}
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("listing cgroup hierarchies: %w", err)
	}
	found, err := matchCgroups(text, mounts, id)
	if err != nil {
		return nil, err
	}
	if !found.complete() {
		return nil, fmt.Errorf("the runtime has not put the box into cgroups of its own: %q", text)
	}
	return found, nil
}

// matchCgroups reads /proc/PID/cgroup, see cgroups(7), and finds where the
// hierarchies are mounted.
func matchCgroups(text string, mounts []*mountinfo.Info, id string) (cgroupSet, error) {
	var found cgroupSet
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %q in a list of cgroups", line)
		}
		if !strings.Contains(fields[2], id) {
			continue
		}
		c := cgroup{unified: fields[1] == ""}
		if !c.unified {
			c.controllers = strings.Split(fields[1], ",")
		}
		if mount := c.mountIn(mounts); mount != nil {
			below, err := filepath.Rel(mount.Root, fields[2])
			if err != nil || strings.HasPrefix(below, "..") {
				return nil, fmt.Errorf("cgroup %s is not below %s, which is mounted at %s", fields[2], mount.Root, mount.Mountpoint)
			}
			c.dir = filepath.Join(mount.Mountpoint, below)
			found = append(found, c)
		}
	}
	return found, nil
}

// mountIn finds the mount of the hierarchy that c is in.
func (c cgroup) mountIn(mounts []*mountinfo.Info) *mountinfo.Info {
	i := slices.IndexFunc(mounts, func(m *mountinfo.Info) bool {
		if c.unified {
			return m.FSType == "cgroup2"
		}
		options := strings.Split(m.VFSOptions, ",")
		return m.FSType == "cgroup" && !slices.ContainsFunc(c.controllers, func(name string) bool {
			return !slices.Contains(options, name)
		})
	})
	if i < 0 {
		return nil
	}
	return mounts[i]
}

// complete reports whether the box can be limited, frozen and killed by these.
func (cs cgroupSet) complete() bool {
	if cs.unified() != nil && !slices.ContainsFunc(cs, func(c cgroup) bool { return !c.unified }) {
		return true
	}
	return cs.controller("memory") != nil && cs.controller("pids") != nil && cs.controller("freezer") != nil
}

// unified is the box's cgroup of version 2, or nil.
func (cs cgroupSet) unified() *cgroup {
	return cs.first(func(c cgroup) bool { return c.unified })
}

// controller is the box's cgroup of version 1 with this controller, or nil.
func (cs cgroupSet) controller(name string) *cgroup {
	return cs.first(func(c cgroup) bool { return slices.Contains(c.controllers, name) })
}

func (cs cgroupSet) first(match func(cgroup) bool) *cgroup {
	if i := slices.IndexFunc(cs, match); i >= 0 {
		return &cs[i]
	}
	return nil
}

// errNoCounter says that the kernel does not count what was asked for.
var errNoCounter = errors.New("the kernel has no such counter")

// parseCounters reads a file of lines "NAME NUMBER".
func parseCounters(text string) (map[string]int64, error) {
	counters := map[string]int64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("counter %q: %w", line, err)
		}
		counters[name] = n
	}
	return counters, nil
}
