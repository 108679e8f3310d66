package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"litmus/internal/wire"
)

// dialled is a controller and the connection of someone who plays litmus-init.
func dialled(t *testing.T) (*controller, net.Conn) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	must(t, os.Mkdir(dir, 0o700))
	c, err := listenControl(dir)
	must(t, err)
	t.Cleanup(func() { must(t, c.close()) })
	conn := dialIn(t, c.dir)
	must(t, c.accept(t.Context(), os.Getpid()))
	return c, conn
}

func dialIn(t *testing.T, dir *os.File) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join("/proc/self/fd", itoa(dir.Fd()), "control.sock"))
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func itoa(fd uintptr) string { b, _ := json.Marshal(fd); return string(b) }

func TestWhatInitSaysWhenItIsAskedToGetReady(t *testing.T) {
	for _, tt := range []struct{ name, says, want string }{
		{"that it is", `{"ready":{"pids_pinned":true}}` + "\n", ""},
		{"that it can't be", `{"failed":"no network"}` + "\n", "litmus-init: no network"},
		{"something else", `{"exited":{"code":0}}` + "\n", "something else than that it is ready"},
		{"no JSON", "hello\n", "litmus-init has gone: understanding litmus-init: "},
		{"nothing", "", "litmus-init has gone: EOF"},
		{"more than a message may have", strings.Repeat("x", wire.MaxMessage+1), "litmus-init has gone: bufio.Scanner: token too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, conn := dialled(t)
			go func() {
				var setup wire.Setup
				json.NewDecoder(conn).Decode(&setup)
				conn.Write([]byte(tt.says))
				conn.Close()
			}()
			ready, err := c.ready(t.Context(), wire.Setup{})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v", ready, err)
			}
		})
	}
}

func TestOnlyInitGetsIn(t *testing.T) {
	c, err := listenControl(t.TempDir())
	must(t, err)
	defer c.close()
	dialIn(t, c.dir)
	if err := c.accept(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "in place of litmus-init") {
		t.Errorf("got %v", err)
	}
}

func TestNobodyGetsInAfterInit(t *testing.T) {
	c, _ := dialled(t)
	if _, err := net.Dial("unix", filepath.Join("/proc/self/fd", itoa(c.dir.Fd()), "control.sock")); err == nil {
		t.Error("a second connection was taken")
	}
}

func TestWaitingForInitEndsWithItsContext(t *testing.T) {
	c, err := listenControl(t.TempDir())
	must(t, err)
	defer c.close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("it has ended")
	cancel(cause)
	if err := c.accept(ctx, 1); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestASetupThatIsTooLongIsTheSpecsFault(t *testing.T) {
	c, _ := dialled(t)
	var wrong *SpecError
	setup := wire.Setup{Agent: wire.Command{Stdin: make([]byte, wire.MaxMessage)}}
	if _, err := c.ready(t.Context(), setup); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
}
