package sandbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/containerd/containerd/api/types/runc/options"
	containerd "github.com/containerd/containerd/v2/client"
)

const (
	// namespace is the containerd namespace of everything that litmus makes.
	namespace = "litmus"
	// closeTimeout bounds Close, whatever state the daemon is in.
	closeTimeout = 30 * time.Second
)

// Config says where an engine lives and what it uses. The zero value of every
// field but StateDir has a meaning.
type Config struct {
	// StateDir is the directory that all litmus processes of this user share;
	// each takes a slot of its own in it. Created with mode 0700. It must lie
	// on a file system that overlayfs accepts as a lower layer.
	StateDir string
	// Address is the socket of an existing containerd. Empty starts a private one.
	Address string
	// Exe is the litmus binary, which is also the private daemon and its shim.
	// Needed unless Address is set.
	Exe string
	// Runtime is the OCI runtime: a name looked up in PATH or a path. Empty is
	// runc, or crun where runc is not installed.
	Runtime string
	// InitPath is the litmus-init binary.
	InitPath string
}

// Engine runs boxes. Its methods may be called concurrently.
type Engine struct {
	config  Config
	client  *containerd.Client
	runtime string // absolute path of the OCI runtime
	slot    *slot
	daemon  *daemon // nil with Config.Address

	closeOnce sync.Once
	closeErr  error

	lock   sync.Mutex        // for what follows
	images map[string]*Image // by reference as given
	atOpen Reclaimed         // what Open removed and Reclaim has not reported yet
}

// MissingError is something that the machine lacks. Fix is what to do about it.
type MissingError struct {
	What string
	Fix  string
}

func (e *MissingError) Error() string { return e.What }

// Hint is the way out, for the user.
func (e *MissingError) Hint() string { return e.Fix }

// Open takes a slot in the state directory, starts the private daemon there
// (or connects to the existing one) and removes what an earlier process that
// was killed left in the slot. Close must be called.
func Open(ctx context.Context, config Config) (_ *Engine, err error) {
	config, err = config.checked()
	if err != nil {
		return nil, err
	}
	runtime, err := findRuntime(config.Runtime)
	if err != nil {
		return nil, err
	}
	slot, err := takeSlot(config.StateDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{config: config, runtime: runtime, slot: slot, images: map[string]*Image{}}
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, e.close(len(slot.unclean) == 0))
	}
	return e, nil
}

func (e *Engine) start(ctx context.Context) (err error) {
	if e.config.Address == "" {
		if e.daemon, err = startDaemon(ctx, e.config.Exe, e.slot); err != nil {
			return err
		}
	}
	if e.client, err = connect(ctx, e.Address()); err != nil {
		return err
	}
	if err := e.slot.use(e.config.Address); err != nil {
		return err
	}
	e.atOpen, err = e.reclaimSlot(ctx, e.slot)
	return err
}

// Close removes what the engine holds for its boxes (views of images and their
// lease), stops the private daemon and gives the slot back. Images stay: they
// are the slot's cache. It is bounded in time; no box may be running. A second
// call returns what the first one did.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() { e.closeErr = e.close(true) })
	return e.closeErr
}

// close leaves the slot marked as unclean if that is what it is, so that the
// next owner reclaims it.
func (e *Engine) close(clean bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if e.client != nil {
		errs = append(errs, e.releaseImages(ctx), e.client.Close())
	}
	if e.daemon != nil {
		errs = append(errs, e.daemon.stop(ctx))
		// A shim ends a little after its task; it must not outlive its daemon.
		_, err := killShims(ctx, e.slot)
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	return errors.Join(err, e.slot.release(ctx, clean && err == nil))
}

// Address is the socket of the daemon in use.
func (e *Engine) Address() string {
	if e.daemon != nil {
		return e.daemon.address
	}
	return e.config.Address
}

func (c Config) checked() (Config, error) {
	if c.StateDir == "" {
		return c, errors.New("no state directory given")
	}
	dir, err := filepath.Abs(c.StateDir)
	if err != nil {
		return c, fmt.Errorf("resolving state directory: %w", err)
	}
	// Both characters separate things in the mount options of overlayfs.
	if strings.ContainsAny(dir, `:,\`) {
		return c, fmt.Errorf("state directory %q: colon, comma and backslash can't be used in it", dir)
	}
	c.StateDir = dir
	if c.Address == "" && c.Exe == "" {
		return c, errors.New("no litmus binary given to start the private daemon with")
	}
	return c, nil
}

// boxesDir is where each box has a directory, named by its id. A directory is
// made before anything else of its box and removed after everything else of
// it, so that the names in it are all boxes that can have left something.
func (e *Engine) boxesDir() string { return e.slot.boxesDir() }

// socketsDir is a directory with a path short enough for Unix sockets in it
// (43 bytes at most), removed with everything in it by Close and Reclaim.
func (e *Engine) socketsDir() string { return e.slot.socketsDir() }

// SocketPath is where the caller may listen for one box, for its Spec.Gateway. The
// name has at most 32 bytes. What is there goes with Close and Reclaim.
func (e *Engine) SocketPath(name string) string {
	return filepath.Join(e.socketsDir(), "gateway-"+name)
}

// cgroupPath is the path, in every hierarchy, of the cgroup of a box.
func (e *Engine) cgroupPath(id string) string {
	return filepath.Join(e.slot.cgroup(), id)
}

// labels are those that every container, snapshot and lease of the engine
// carries; Reclaim finds by them what has lost its owner.
func (e *Engine) labels(runID, token string) map[string]string {
	return map[string]string{labelOwner: e.slot.dir, labelRun: runID, labelToken: token}
}

// runtimeName names the shim. The private daemon finds litmus itself under it.
func (e *Engine) runtimeName() string { return "io.containerd.runc.v2" }

// runtimeOptions tell the shim which OCI runtime to use. Its state lies with
// the slot's sockets, so that it goes with them.
func (e *Engine) runtimeOptions() *options.Options {
	return &options.Options{BinaryName: e.runtime, Root: e.slot.ociDir()}
}
