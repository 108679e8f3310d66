package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name   string
		change func(*sandbox.Config)
		want   string
	}{
		{"no state directory", func(c *sandbox.Config) { c.StateDir = "" }, "no state directory given"},
		{"a state directory that overlayfs can't name", func(c *sandbox.Config) { c.StateDir += "/a:b" }, "can't be used in it"},
		{"no binary to start the daemon with", func(c *sandbox.Config) { c.Exe = "" }, "no litmus binary given"},
		{"a binary that does not exist", func(c *sandbox.Config) { c.Exe = "/none" }, "starting private containerd: "},
		{"a binary that is no litmus", func(c *sandbox.Config) { c.Exe = "/bin/false" }, "it ended before it was ready"},
		{"an address where nobody listens", func(c *sandbox.Config) { c.Address = "/none.sock" }, "no containerd answers at /none.sock"},
		{"a runtime that is not installed", func(c *sandbox.Config) { c.Runtime = "none" }, `OCI runtime "none" is not installed`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := sandboxtest.Config(t, sandboxtest.Private)
			test.change(&config)
			engine, err := sandbox.Open(t.Context(), config)
			if err == nil {
				engine.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to contain %q", err, test.want)
			}
			if config.StateDir != "" {
				sandboxtest.NoTraces(t, config.StateDir, "")
			}
		})
	}
}

func TestAMissingRuntimeComesWithAHint(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	config.Runtime = "none"
	_, err := sandbox.Open(t.Context(), config)
	var missing *sandbox.MissingError
	if !errors.As(err, &missing) || missing.Hint() == "" {
		t.Errorf("got %#v", err)
	}
}

func TestACancelledOpenLeavesNothing(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	if _, err := sandbox.Open(canceled(t), config); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	sandboxtest.NoTraces(t, config.StateDir, "")
}

func TestEnginesOfOneStateDirectoryTakeDifferentSlotsAndGiveThemBack(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	first := sandboxtest.Open(t, config)
	second := sandboxtest.Open(t, config)
	if got := []string{first.SlotDir(), second.SlotDir()}; !slices.Equal(got,
		[]string{filepath.Join(config.StateDir, "0"), filepath.Join(config.StateDir, "1")}) {
		t.Errorf("slots %q", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	third := sandboxtest.Open(t, config)
	if third.SlotDir() != first.SlotDir() {
		t.Errorf("the free slot was not taken but %s", third.SlotDir())
	}
}

func TestADeepStateDirectoryIsNoHindrance(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	// Longer than any Unix socket's path may be.
	config.StateDir = filepath.Join(config.StateDir, strings.Repeat("d", 200))
	engine := sandboxtest.Open(t, config)
	if _, err := engine.Image(t.Context(), "builtin"); err != nil {
		t.Error(err)
	}
}

func TestDirectoriesAreForTheirOwnerOnly(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	config.StateDir = filepath.Join(config.StateDir, "new")
	engine := sandboxtest.Open(t, config)
	for _, dir := range []string{config.StateDir, engine.SlotDir(), engine.RunDir(), engine.BoxesDir()} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
}

func TestADaemonThatIsGoneDoesNotKeepItsSlotFromBeingUsed(t *testing.T) {
	config := sandboxtest.Config(t, sandboxtest.Private)
	slot := filepath.Join(config.StateDir, "0")
	if err := os.MkdirAll(slot, 0o700); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(slot, "owner.lock")
	if err := os.WriteFile(lock, []byte("/run/uninstalled.sock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	engine := sandboxtest.Open(t, config)
	got, err := engine.Reclaim(t.Context())
	if err != nil || !slices.Equal(got.Unclear, []string{"/run/uninstalled.sock"}) {
		t.Errorf("reclaimed %+v, %v", got, err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(lock); string(text) != "/run/uninstalled.sock\n" {
		t.Errorf("owner.lock holds %q, %v", text, err)
	}
}

func TestParseOwners(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a clean slot", "", nil},
		{"a private daemon", "private\n", []string{""}},
		{"each daemon once, in order", "/a.sock\nprivate\n/a.sock\n", []string{"/a.sock", ""}},
		{"a last line that was cut short", "private\n/a.so", []string{"", "/a.so"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := sandbox.ParseOwners(test.text); !slices.Equal(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}
