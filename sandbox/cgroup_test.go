package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"
)

func TestCgroupsAreFoundInEveryKindOfHierarchy(t *testing.T) {
	v1 := func(point, options string) *mountinfo.Info {
		return &mountinfo.Info{FSType: "cgroup", Root: "/", Mountpoint: point, VFSOptions: "rw," + options}
	}
	unified := func(point, root string) *mountinfo.Info {
		return &mountinfo.Info{FSType: "cgroup2", Root: root, Mountpoint: point, VFSOptions: "rw"}
	}
	hybrid := []*mountinfo.Info{v1("/c/cpu", "cpu,cpuacct"), v1("/c/memory", "memory"), v1("/c/pids", "pids"),
		v1("/c/freezer", "freezer"), v1("/c/systemd", "name=systemd"), unified("/c/unified", "/")}
	for _, tt := range []struct {
		name, text string
		mounts     []*mountinfo.Info
		want       []string
		complete   bool
	}{
		{"version 2", "0::/litmus-s/box-1\n", []*mountinfo.Info{unified("/c", "/")}, []string{"/c/litmus-s/box-1"}, true},
		{"version 2 in a container", "0::/docker/x/litmus-s/box-1\n", []*mountinfo.Info{unified("/c", "/docker/x")}, []string{"/c/litmus-s/box-1"}, true},
		{"version 1 and 2", "5:name=systemd:/s/box-1\n4:freezer:/s/box-1\n3:pids:/s/box-1\n2:memory:/s/box-1\n1:cpu,cpuacct:/s/box-1\n0::/\n", hybrid,
			[]string{"/c/systemd/s/box-1", "/c/freezer/s/box-1", "/c/pids/s/box-1", "/c/memory/s/box-1", "/c/cpu/s/box-1"}, true},
		{"version 1 without a cgroup for memory", "4:freezer:/s/box-1\n3:pids:/s/box-1\n2:memory:/\n0::/\n", hybrid, []string{"/c/freezer/s/box-1", "/c/pids/s/box-1"}, false},
		{"a hierarchy that is mounted nowhere", "0::/s/box-1\n", hybrid[:1], nil, false},
		{"no cgroup of its own", "0::/\n", hybrid, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := matchCgroups(tt.text, tt.mounts, "box-1")
			if err != nil {
				t.Fatal(err)
			}
			var dirs []string
			for _, c := range found {
				dirs = append(dirs, c.dir)
			}
			if !slices.Equal(dirs, tt.want) || found.complete() != tt.complete {
				t.Errorf("found %q, complete %v", dirs, found.complete())
			}
		})
	}
	for _, bad := range []string{"x\n", "0:/\n"} {
		if _, err := matchCgroups(bad, nil, "box-1"); err == nil {
			t.Errorf("took %q", bad)
		}
	}
	if _, err := matchCgroups("0::/other/box-1\n", []*mountinfo.Info{unified("/c", "/docker/x")}, "box-1"); err == nil {
		t.Error("took a cgroup outside of what is mounted")
	}
}

func TestCountersOfCgroups(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		parse      func(string) (int64, error)
		want       int64
		ok         bool
	}{
		{"memory.oom_control of version 1", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", parseOOMKills, 3, true},
		{"memory.events of version 2", "low 0\nhigh 0\nmax 12\noom 4\noom_kill 2\noom_group_kill 0\n", parseOOMKills, 2, true},
		{"memory.oom_control before Linux 4.13", "oom_kill_disable 0\nunder_oom 0\n", parseOOMKills, 0, false},
		{"pids.events", "max 17\n", parsePidsEvents, 17, true},
		{"pids.events with a local part", "max 0\nmax.imposed 5\n", parsePidsEvents, 0, true},
		{"nothing", "", parsePidsEvents, 0, false},
		{"no number", "max many\n", parsePidsEvents, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.parse(tt.text); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestStatesOfFreezers(t *testing.T) {
	for text, want := range map[string]bool{"FROZEN\n": true, "FREEZING\n": false, "THAWED\n": false, "": false} {
		if isFrozenV1(text) != want {
			t.Errorf("freezer.state %q", text)
		}
	}
	for text, want := range map[string]bool{"populated 1\nfrozen 1\n": true, "populated 1\nfrozen 0\n": false, "populated 0\n": false, "frozen\n": false} {
		if isFrozenV2(text) != want {
			t.Errorf("cgroup.events %q", text)
		}
	}
}

// Both freezers exist on a hybrid machine; a box there uses that of version 1,
// so each is tried here on a process of the test's own.
func TestFreezingAndKillingInEachVersion(t *testing.T) {
	needRoot(t)
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	must(t, err)
	tried := 0
	for _, m := range mounts {
		c := cgroup{dir: filepath.Join(m.Mountpoint, "litmus-test-"+strconv.Itoa(os.Getpid())), unified: m.FSType == "cgroup2"}
		if !c.unified {
			if filepath.Base(m.Mountpoint) != "freezer" {
				continue
			}
			c.controllers = []string{"freezer"}
		}
		tried++
		t.Run(m.Mountpoint, func(t *testing.T) {
			set := cgroupSet{c}
			must(t, os.Mkdir(c.dir, 0o755))
			t.Cleanup(func() { must(t, set.remove(context.Background())) })
			cmd := exec.Command("sh", "-c", "while true; do :; done")
			must(t, cmd.Start())
			pid := strconv.Itoa(cmd.Process.Pid)
			must(t, os.WriteFile(filepath.Join(c.dir, "cgroup.procs"), []byte(pid), 0))
			must(t, set.freezer().freeze(t.Context()))
			before, err := readProc("/proc/" + pid + "/schedstat")
			must(t, err)
			for range 10 { // it would run meanwhile
				must(t, exec.Command("true").Run())
			}
			if after, err := readProc("/proc/" + pid + "/schedstat"); err != nil || after != before {
				t.Errorf("it ran while it was frozen: %q, %q, %v", before, after, err)
			}
			go cmd.Wait() // until then it is in the cgroup
			must(t, set.kill(t.Context()))
			if pids, err := set.processes(); err != nil || len(pids) != 0 {
				t.Errorf("left: %v, %v", pids, err)
			}
		})
	}
	if tried == 0 {
		t.Error("this machine has no freezer")
	}
}

func TestWaitingForTheKernelEndsWithItsContext(t *testing.T) {
	cause := errors.New("too slow")
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, cause)
	defer cancel()
	if err := waitUntil(ctx, "waiting", func() (bool, error) { return false, nil }); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
