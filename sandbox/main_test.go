package sandbox_test

import (
	"testing"

	"litmus/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { sandboxtest.Main(m) }
