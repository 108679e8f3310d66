package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"litmus/runner"
)

// boxFlags are the flags of every verb that makes boxes or looks after them.
type boxFlags struct {
	stateDir, containerd, runtime, init string
}

func (f *boxFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.stateDir, "state-dir", defaultStateDir(), "where the private daemon and the boxes live")
	flags.StringVar(&f.containerd, "containerd", "", "address of an existing containerd to use instead of a private one")
	flags.StringVar(&f.runtime, "runtime", "", "OCI runtime: runc, crun or a path (default: the first of these that is installed)")
	flags.StringVar(&f.init, "init", os.Getenv("LITMUS_INIT"), "path of litmus-init (default: beside litmus)")
}

func defaultStateDir() string {
	if dir := os.Getenv("LITMUS_STATE_DIR"); dir != "" {
		return dir
	}
	return "/var/lib/litmus"
}

// boxes resolves the flags. The program and its init are found beside each other.
func (f *boxFlags) boxes() (runner.Boxes, error) {
	exe, err := os.Executable()
	if err != nil {
		return runner.Boxes{}, err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return runner.Boxes{}, err
	}
	stateDir, err := filepath.Abs(f.stateDir)
	if err != nil {
		return runner.Boxes{}, err
	}
	init := f.init
	if init == "" {
		init = filepath.Join(filepath.Dir(exe), "litmus-init")
	}
	return runner.Boxes{
		StateDir: stateDir, Containerd: f.containerd, Runtime: f.runtime, Exe: exe, Init: init,
	}, nil
}
