package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
)

const (
	// daemonStartTimeout is for a cold start on a loaded machine; it takes
	// about 0.2 s on an idle one.
	daemonStartTimeout = 60 * time.Second
	// connectTimeout is how long a daemon that listens may take to answer.
	connectTimeout = 10 * time.Second
	// daemonStopTimeout is how long the daemon may take to end by itself.
	daemonStopTimeout = 10 * time.Second
)

// daemon is a private containerd: a child process of litmus that has the
// slot's directories for itself.
type daemon struct {
	address string
	life    *os.File // write end; the daemon ends when it is closed
	process *os.Process
	exited  chan struct{} // closed once the process has been waited for
}

// startDaemon starts the daemon of a slot and returns when it accepts
// connections. It holds the end of a pipe, and the kernel closes that when
// litmus dies by whatever signal. (A parent-death signal would not do: it is
// sent when the starting *thread* ends, and Go ends threads.)
func startDaemon(ctx context.Context, exe string, slot *slot) (*daemon, error) {
	if err := killDaemon(ctx, slot); err != nil {
		return nil, err
	}
	path, err := installShim(slot, exe)
	if err != nil {
		return nil, err
	}
	// Not bound to ctx: the daemon must outlive a cancelled run to clean up after it.
	cmd := exec.Command(exe, daemonVerb, "-root", daemonRoot(slot),
		"-state", filepath.Join(slot.dir, "state"), "-sockets", slot.runDir)
	cmd.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+searchPath())
	// A session of its own: the terminal's interrupt is for litmus alone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	logPath := filepath.Join(slot.dir, "containerd.log")
	d, ready, err := launch(cmd, logPath)
	if err != nil {
		return nil, fmt.Errorf("starting private containerd: %w", err)
	}
	defer ready.Close()
	d.address = daemonSocket(slot.runDir)
	if err := awaitReady(ctx, ready); err != nil {
		return nil, errors.Join(fmt.Errorf("starting private containerd: %w; its log, %s, ends with:\n%s",
			err, logPath, lastLines(logPath, 2048)), d.stop(context.WithoutCancel(ctx)))
	}
	return d, nil
}

// launch starts the process with its log and its two pipes, and returns the
// end of the pipe on which it reports that it is ready.
func launch(cmd *exec.Cmd, logPath string) (_ *daemon, ready *os.File, err error) {
	var given []*os.File // the child has its own copies, or there is no child
	defer func() {
		for _, f := range given {
			f.Close()
		}
	}()
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	given = append(given, log)
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	given = append(given, lifeR)
	readyR, readyW, err := os.Pipe()
	if err != nil {
		lifeW.Close()
		return nil, nil, err
	}
	given = append(given, readyW)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lifeR, readyW} // lifeFD, readyFD
	if err := cmd.Start(); err != nil {
		lifeW.Close()
		readyR.Close()
		return nil, nil, err
	}
	d := &daemon{life: lifeW, process: cmd.Process, exited: make(chan struct{})}
	go func() {
		defer close(d.exited)
		cmd.Wait()
	}()
	return d, readyR, nil
}

// daemonRoot is where the slot's daemon keeps images and its database.
func daemonRoot(slot *slot) string { return filepath.Join(slot.dir, "root") }

// awaitReady reads the byte that the daemon writes when it is ready.
func awaitReady(ctx context.Context, ready *os.File) error {
	defer context.AfterFunc(ctx, func() { ready.SetReadDeadline(time.Now()) })()
	if err := ready.SetReadDeadline(time.Now().Add(daemonStartTimeout)); err != nil {
		return err
	}
	_, err := io.ReadFull(ready, make([]byte, 1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return errors.New("it ended before it was ready")
	}
	return err
}

// stop ends the daemon, at first by closing its life pipe, in the end by
// force. Safe to call when it has ended already.
func (d *daemon) stop(ctx context.Context) error {
	d.life.Close()
	timeout := time.NewTimer(daemonStopTimeout)
	defer timeout.Stop()
	select {
	case <-d.exited:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
	}
	if err := d.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing private containerd: %w", err)
	}
	<-d.exited
	return nil
}

// installShim puts a link by which the daemon finds its shim, which is exe,
// into a directory of the slot, and returns that directory.
func installShim(slot *slot, exe string) (string, error) {
	dir := filepath.Join(slot.runDir, "bin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("installing shim: %w", err)
	}
	link := filepath.Join(dir, shimName)
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("installing shim: %w", err)
	}
	if err := os.Symlink(exe, link); err != nil {
		return "", fmt.Errorf("installing shim: %w", err)
	}
	return dir, nil
}

// errUnreachable: no daemon answers.
var errUnreachable = errors.New("no containerd answers")

// connect returns a client once the daemon at address has answered.
func connect(ctx context.Context, address string) (*containerd.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	// The client would go on trying where nobody listens.
	conn, err := new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(address, "unix://"))
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", errUnreachable, address, err)
	}
	conn.Close()
	client, err := containerd.New(address, containerd.WithDefaultNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("connecting to containerd at %s: %w", address, err)
	}
	if _, err := client.Version(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("%w at %s: %w", errUnreachable, address, err)
	}
	return client, nil
}

// lastLines is the end of a file, max bytes at most, for an error message.
func lastLines(path string, max int) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(b[len(b)-min(len(b), max):])
}
