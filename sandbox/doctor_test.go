package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestDoctorFindsEverythingHere(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		t.Run("with "+string(daemon), func(t *testing.T) {
			config := sandboxtest.Config(t, daemon)
			for _, f := range sandbox.Doctor(t.Context(), config) {
				t.Logf("%s: %s", f.Name, f.Detail)
				if !f.OK || f.Detail == "" || f.Fix != "" {
					t.Errorf("%+v", f)
				}
			}
			if left, err := os.ReadDir(config.StateDir); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestDoctorNamesTheFix(t *testing.T) {
	tests := []struct {
		name    string
		change  func(*sandbox.Config)
		finding string
		fix     string
	}{
		{"a runtime that is not installed", func(c *sandbox.Config) { c.Runtime = "nothing-like-it" }, "oci runtime", "runc"},
		{"a runtime that is no runtime", func(c *sandbox.Config) { c.Runtime = "/bin/false" }, "oci runtime", "apt-get install runc"},
		{"an address where no daemon listens", func(c *sandbox.Config) { c.Address = c.StateDir + "/none.sock" }, "containerd", "systemctl start containerd"},
		{"a state directory that can't be made", func(c *sandbox.Config) { c.StateDir = "/proc/none" }, "state directory", "df -h /proc/none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := sandboxtest.Config(t, sandboxtest.Private)
			test.change(&config)
			for _, f := range sandbox.Doctor(t.Context(), config) {
				if f.Name == test.finding && (f.OK || !strings.Contains(f.Fix, test.fix)) {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
