package sandbox

import (
	"context"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/manager"
	"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2/task"
	"github.com/containerd/containerd/v2/pkg/shim"
	"github.com/containerd/containerd/v2/pkg/shutdown"
	"github.com/containerd/containerd/v2/plugins"
	"github.com/containerd/plugin"
	"github.com/containerd/plugin/registry"
)

const (
	// shimName is the file name under which the private daemon looks for its shim.
	shimName = "containerd-shim-runc-v2"
	// shimVariable marks a process of this binary as a shim. The shim starts
	// itself a second time through /proc/self/exe, where the name that it was
	// started by is lost.
	shimVariable = "LITMUS_CONTAINERD_SHIM"
	// daemonVerb as the first argument makes a process of this binary the private daemon.
	daemonVerb = "containerd-daemon"
)

// Reexec is to be called first by a program whose path is given as Config.Exe,
// with its os.Args. When the process was started as the private daemon or as
// its shim, it does that work and returns the exit code; else ok is false.
func Reexec(args []string) (code int, ok bool) {
	switch {
	case filepath.Base(args[0]) == shimName, os.Getenv(shimVariable) != "":
		return runShim(), true
	case len(args) > 1 && args[1] == daemonVerb:
		return runDaemon(args[2:]), true
	}
	return 0, false
}

// runShim is the process between the daemon and one box: containerd's own shim
// for runc, with only its task service.
func runShim() int {
	os.Setenv(shimVariable, "1")
	// The shim loads every plugin there is; those of the daemon, registered by
	// their packages in the same binary, are not for it.
	registry.Reset()
	registry.Register(&plugin.Registration{
		Type:     plugins.TTRPCPlugin,
		ID:       "task",
		Requires: []plugin.Type{plugins.EventPlugin, plugins.InternalPlugin},
		InitFn:   newTaskService,
	})
	shim.RunShim(context.Background(), manager.NewShimManager("io.containerd.runc.v2"))
	return 0
}

func newTaskService(ic *plugin.InitContext) (any, error) {
	publisher, err := ic.GetByID(plugins.EventPlugin, "publisher")
	if err != nil {
		return nil, err
	}
	stop, err := ic.GetByID(plugins.InternalPlugin, "shutdown")
	if err != nil {
		return nil, err
	}
	return task.NewTaskService(ic.Context, publisher.(shim.Publisher), stop.(shutdown.Service))
}
