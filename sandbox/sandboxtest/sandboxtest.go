// Package sandboxtest gives tests a real sandbox: engines on private daemons
// and on the distribution's containerd, and a comparison of what exists on the
// machine before and after.
//
// A test that needs it fails where it can't run; nothing is skipped unless the
// variable LITMUS_SKIP_SANDBOX is 1.
package sandboxtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"litmus/sandbox"
)

// Main is to be called by TestMain of every package whose tests open engines:
// the test binary is started again as the private daemon and as its shim.
func Main(m *testing.M) {
	if code, ok := sandbox.Reexec(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// Need ends the test unless a sandbox can run here.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv("LITMUS_SKIP_SANDBOX") == "1" {
		t.Skip("LITMUS_SKIP_SANDBOX is 1")
	}
	if os.Geteuid() != 0 {
		t.Fatal("the sandbox needs root; set LITMUS_SKIP_SANDBOX=1 to leave its tests out")
	}
}

// Daemon is a kind of containerd to test against.
type Daemon string

const (
	// Private is litmus' own daemon.
	Private Daemon = "private"
	// Debian is /usr/bin/containerd of the distribution, with root, state and
	// socket of its own.
	Debian Daemon = "debian"
)

// Daemons are all kinds, for tests that must pass with each.
var Daemons = []Daemon{Private, Debian}

// Config is the configuration of an engine for a test: a fresh state directory
// and this test binary as litmus. A Debian daemon is started for it and ends with the test.
func Config(t testing.TB, daemon Daemon) sandbox.Config {
	t.Helper()
	Need(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := sandbox.Config{StateDir: t.TempDir(), Exe: exe}
	if daemon == Debian {
		config.Address = startDebian(t)
	}
	return config
}

// Open opens an engine that is closed at the end of the test.
func Open(t testing.TB, config sandbox.Config) *sandbox.Engine {
	t.Helper()
	engine, err := sandbox.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

// InitPath builds litmus-init, once per test binary, and returns its path.
func InitPath(t testing.TB) string {
	t.Helper()
	path, err := buildInit()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildInit = sync.OnceValues(func() (string, error) {
	// Kept in the build cache's neighbourhood, not in a directory that a test
	// owns: all tests of the binary share it.
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "litmus-test", "litmus-init")
	cmd := exec.Command("go", "build", "-o", path, "litmus/cmd/litmus-init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building litmus-init: %w: %s", err, out)
	}
	return path, nil
})
