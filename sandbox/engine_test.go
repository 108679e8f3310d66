package sandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestEngineOpensAndCloses(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		t.Run("on "+string(daemon), func(t *testing.T) {
			config := sandboxtest.Config(t, daemon)
			engine, err := sandbox.Open(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			im, err := engine.Image(t.Context(), "builtin")
			if err != nil {
				t.Error(err)
			} else {
				t.Log(im.Digest)
			}
			if err := engine.Close(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(filepath.Join(config.StateDir, "0", "containerd.log")); err == nil {
				t.Logf("%s", b)
			}
		})
	}
}
