package sandboxtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// debianContainerd is where the distribution's package containerd lies.
const debianContainerd = "/usr/bin/containerd"

const debianConfig = `version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
address = %q
`

// startDebian starts the distribution's containerd for one test and returns
// its socket. It says by sd_notify when it is ready, so nothing is polled.
func startDebian(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "litmus-debian-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	socket := filepath.Join(dir, "containerd.sock")
	config := filepath.Join(dir, "config.toml")
	text := fmt.Sprintf(debianConfig, filepath.Join(dir, "root"), filepath.Join(dir, "state"), socket)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	logPath := filepath.Join(dir, "log")
	log, err := os.Create(logPath)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	cmd := exec.Command(debianContainerd, "--config", config)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(dir, "notify"))
	cmd.Stdout, cmd.Stderr = log, log
	exited, err := startWithParent(cmd)
	if err != nil {
		t.Fatalf("starting %s: %v (package containerd is needed for tests)", debianContainerd, err)
	}
	t.Cleanup(func() { stopProcess(t, cmd, exited) })
	if err := awaitNotify(notify); err != nil {
		text, _ := os.ReadFile(logPath)
		t.Fatalf("waiting for %s: %v\n%s", debianContainerd, err, text)
	}
	return socket
}

// startWithParent starts cmd so that it dies with this process, even a killed
// one. The kernel ties that to the starting thread, which therefore stays
// locked until the command has ended.
func startWithParent(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	return done, <-started
}

func stopProcess(t testing.TB, cmd *exec.Cmd, exited <-chan struct{}) {
	cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-exited:
	case <-time.After(20 * time.Second):
		t.Errorf("%s did not end on SIGTERM", cmd.Path)
		cmd.Process.Kill()
		<-exited
	}
}

func awaitNotify(notify *net.UnixConn) error {
	if err := notify.SetReadDeadline(time.Now().Add(60 * time.Second)); err != nil {
		return err
	}
	message := make([]byte, 4096)
	for {
		n, err := notify.Read(message)
		if err != nil {
			return err
		}
		if strings.Contains(string(message[:n]), "READY=1") {
			return nil
		}
	}
}
