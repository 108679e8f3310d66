package sandbox

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"litmus/internal/wire"
)

// door is an open door to a gateway that does serve with each connection.
func door(t *testing.T, serve func(*net.UnixConn)) (*gatewayDoor, func() *net.UnixConn) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "gateway")
	gateway, err := net.ListenUnix("unix", &net.UnixAddr{Name: target, Net: "unix"})
	must(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := gateway.AcceptUnix()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { gateway.Close(); serving.Wait() })
	dir := t.TempDir()
	g, err := openGatewayDoor(dir, target)
	must(t, err)
	return g, func() *net.UnixConn {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, filepath.Base(wire.GatewaySocket)), Net: "unix"})
		must(t, err)
		return conn
	}
}

func echo(conn *net.UnixConn) { io.Copy(conn, conn) }

func TestTheGatewaysDoorPassesBytesAndEndsOn(t *testing.T) {
	g, dial := door(t, echo)
	defer g.close()
	sent := make([]byte, 3<<20)
	var all sync.WaitGroup
	for range 2 * maxGatewayConns {
		all.Go(func() {
			conn := dial()
			defer conn.Close()
			go func() {
				conn.Write(sent[:100_000])
				conn.CloseWrite()
			}()
			if got, err := io.ReadAll(conn); err != nil || len(got) != 100_000 {
				t.Errorf("%d bytes came back, %v", len(got), err)
			}
		})
	}
	all.Wait()
}

func TestAnAnswerBeforeTheEndOfTheRequestIsNotLost(t *testing.T) {
	g, dial := door(t, func(conn *net.UnixConn) {
		conn.Read(make([]byte, 1))
		conn.Write([]byte("too large"))
	})
	defer g.close()
	conn := dial()
	defer conn.Close()
	go conn.Write(make([]byte, 3<<20))
	answer := make([]byte, 9)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "too large" {
		t.Errorf("got %q, %v", answer, err)
	}
}

func TestAGatewayThatIsNotThereHangsUp(t *testing.T) {
	dir := t.TempDir()
	g, err := openGatewayDoor(dir, filepath.Join(dir, "none"))
	must(t, err)
	defer g.close()
	conn, err := net.Dial("unix", filepath.Join(dir, filepath.Base(wire.GatewaySocket)))
	must(t, err)
	defer conn.Close()
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestClosingTheDoorEndsEveryConnection(t *testing.T) {
	for _, conns := range []int{0, 1, maxGatewayConns, maxGatewayConns + 5} {
		g, dial := door(t, echo)
		for range conns {
			conn := dial()
			defer conn.Close()
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		must(t, g.close())
	}
}
