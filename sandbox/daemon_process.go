package sandbox

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	srvconfig "github.com/containerd/containerd/v2/cmd/containerd/server/config"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/version"
	"github.com/containerd/log"
)

// File descriptors that the private daemon inherits.
const (
	lifeFD  = 3 // reads the end of file when litmus closes it or dies
	readyFD = 4 // one byte is written here once the sockets accept connections
)

// runDaemon is the private daemon's process: containerd of the pinned module
// with the plugins of daemon_plugins.go. It ends when its life pipe does.
func runDaemon(args []string) int {
	flags := flag.NewFlagSet(daemonVerb, flag.ContinueOnError)
	root := flags.String("root", "", "directory of what stays")
	state := flags.String("state", "", "directory of what goes with the machine's boot")
	sockets := flags.String("sockets", "", "directory of the sockets")
	if err := flags.Parse(args); err != nil {
		return 64
	}
	if err := serveDaemon(context.Background(), daemonConfig(*root, *state, *sockets)); err != nil {
		fmt.Fprintln(os.Stderr, "containerd:", err)
		return 70
	}
	return 0
}

func daemonConfig(root, state, sockets string) *srvconfig.Config {
	return &srvconfig.Config{
		Version: version.ConfigVersion,
		Root:    root,
		State:   state,
		RequiredPlugins: []string{
			"io.containerd.runtime.v2.task",
			"io.containerd.grpc.v1.tasks",
			"io.containerd.server.v1.grpc",
			"io.containerd.server.v1.ttrpc",
		},
		Plugins: map[string]any{
			"io.containerd.server.v1.grpc":   map[string]any{"address": daemonSocket(sockets)},
			"io.containerd.server.v1.ttrpc":  map[string]any{"address": daemonSocket(sockets) + ".ttrpc"},
			"io.containerd.shim.v1.manager":  map[string]any{"socket_dir": filepath.Join(sockets, "s")},
			"io.containerd.gc.v1.scheduler":  map[string]any{"startup_delay": "0s"},
			"io.containerd.metadata.v1.bolt": map[string]any{"content_sharing_policy": "shared"},
		},
	}
}

// daemonSocket is where the daemon whose sockets lie in dir listens.
func daemonSocket(dir string) string { return filepath.Join(dir, "containerd.sock") }

func serveDaemon(ctx context.Context, config *srvconfig.Config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	if err := log.SetLevel("info"); err != nil {
		return err
	}
	if err := server.CreateTopLevelDirectories(config); err != nil {
		return err
	}
	if err := mount.SetTempMountLocation(filepath.Join(config.Root, "tmpmounts")); err != nil {
		return fmt.Errorf("creating directory for temporary mounts: %w", err)
	}
	if _, err := mount.CleanupTempMounts(0); err != nil {
		return fmt.Errorf("removing temporary mounts: %w", err)
	}
	srv, err := server.New(ctx, config)
	if err != nil {
		return err
	}
	defer srv.Stop()
	if err := srv.Start(ctx); err != nil {
		return err
	}
	srv.Wait()
	ready := os.NewFile(readyFD, "ready")
	if _, err := ready.Write([]byte{1}); err != nil {
		return fmt.Errorf("reporting readiness: %w", err)
	}
	ready.Close()
	select {
	case <-ctx.Done():
	case <-endOf(os.NewFile(lifeFD, "life")):
	}
	return nil
}

// endOf is closed when f has been read to its end.
func endOf(f io.Reader) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, f)
	}()
	return done
}
