package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"litmus/internal/digest"
	"litmus/internal/wire"
)

// noise returns n bytes that are the same each time and do not repeat.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func TestGatewayGetsEveryByteAndItsEndBothWays(t *testing.T) {
	request, answer := noise(3<<20), noise(5<<20)
	b := startBox(t)
	b.begin(wire.Setup{Agent: wire.Command{
		Args: []string{"bash", "-c", `
			exec 3<>/dev/tcp/127.0.0.1/13131
			busybox nc 127.0.0.1 13131 | sha256sum`},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Stdin: request,
	}})
	got := make(chan []byte, 1)
	b.serveGateway(func(conn net.Conn) {
		sent, err := io.ReadAll(conn)
		if len(sent) == 0 {
			return // the connection that the agent opens and leaves alone
		}
		if err != nil {
			t.Error(err)
		}
		got <- sent
		if _, err := conn.Write(answer); err != nil {
			t.Error(err)
		}
	})
	o := b.finish()
	if sent := <-got; !bytes.Equal(sent, request) {
		t.Errorf("the gateway got %d bytes, not the %d that were sent", len(sent), len(request))
	}
	if want := fmt.Sprintf("%x  -\n", sha256.Sum256(answer)); o.stdout != want {
		t.Errorf("the client got %q, want %q\n%s", o.stdout, want, o.stderr)
	}
}

// pair returns the two ends of a TCP connection.
func pair(t *testing.T) (*net.TCPConn, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	check(t, err)
	far, err := listener.Accept()
	check(t, err)
	t.Cleanup(func() { near.Close(); far.Close() })
	return near.(*net.TCPConn), far.(*net.TCPConn)
}

// gatewayAt serves one connection of a Unix socket and returns the socket's path.
func gatewayAt(t *testing.T, serve func(*net.UnixConn)) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "li")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	path := filepath.Join(folder, "g")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	check(t, err)
	go func() {
		defer listener.Close()
		conn, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		defer conn.Close()
		serve(conn)
	}()
	return path
}

func TestAnAnswerSurvivesAServerThatDoesNotReadTheRequest(t *testing.T) {
	client, served := pair(t)
	path := gatewayAt(t, func(conn *net.UnixConn) {
		_, _ = io.WriteString(conn, "no, thank you")
	})
	go connect(served, path)
	go func() {
		_, _ = client.Write(noise(8 << 20))
		_ = client.CloseWrite()
	}()
	if got, err := io.ReadAll(client); string(got) != "no, thank you" || err != nil {
		t.Errorf("the client got %q, %v", got, err)
	}
}

func TestAnAnswerThatBreaksOffDoesNotLookWhole(t *testing.T) {
	client, served := pair(t)
	path := gatewayAt(t, func(conn *net.UnixConn) {
		// Closing with unread input is how a Unix socket says that it broke.
		_, _ = io.ReadFull(conn, make([]byte, 1))
		_, _ = io.WriteString(conn, "half an ans")
	})
	_, err := client.Write([]byte("request"))
	check(t, err)
	go connect(served, path)
	if got, err := io.ReadAll(client); err == nil {
		t.Errorf("the client got %q and a clean end", got)
	}
}

func TestWithoutAGatewayClientsAreRefused(t *testing.T) {
	if err := forward("127.0.0.1:0", filepath.Join(t.TempDir(), "none")); err != nil {
		t.Error(err)
	}
	client, served := pair(t)
	go connect(served, filepath.Join(t.TempDir(), "none"))
	if _, err := client.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("a client without a gateway got %v, want a reset", err)
	}
}

func TestRecorderKeepsWhatWasSent(t *testing.T) {
	long := strings.Repeat("0123456789", 100_000)
	for name, c := range map[string]struct {
		script string // sends to 127.0.0.2, port 80
		want   []string
	}{
		"a raw stream":                    {`printf 'hello\nthere' >/dev/tcp/127.0.0.2/80`, []string{"hello\nthere"}},
		"a long one whose sender is gone": {`head -c 20000000 /dev/zero >/dev/tcp/127.0.0.2/80`, []string{string(make([]byte, 20_000_000))}},
		"nothing":                         {`: >/dev/tcp/127.0.0.2/80`, []string{""}},
		"bytes that are no text":          {`printf '\377\000\001' >/dev/tcp/127.0.0.2/80`, []string{"\xff\x00\x01"}},
		"a long stream":                   {`printf '0123456789%.0s' $(seq 100000) >/dev/tcp/127.0.0.2/80`, []string{long}},
		"a stream that is left open":      {`exec 3>/dev/tcp/127.0.0.2/80; printf open >&3; sleep 600 & exit 0`, []string{"open"}},
		"half a request":                  {`printf 'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf' >/dev/tcp/127.0.0.2/80`, []string{"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"}},
		"connections that nobody served":  {`exec 3>/dev/tcp/127.0.0.2/80 4>/dev/tcp/127.0.0.2/80; printf a >&3; printf b >&4; exit 0`, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := runBox(t, wire.Setup{
				Listeners:    []wire.Listener{{Host: "evil.example", Address: "127.0.0.2", Port: 80}},
				CaptureLimit: 10,
				Agent:        bash(c.script),
			})
			if len(got.connections) != len(c.want) {
				t.Fatalf("%d connections, want %d\n%s", len(got.connections), len(c.want), got.stderr)
			}
			found := map[string]wire.Connection{}
			for _, connection := range got.connections {
				found[connection.Hash] = connection
			}
			for _, sent := range c.want {
				hash := digest.Sum([]byte(sent)).String()
				c, ok := found[hash]
				if !ok {
					t.Fatalf("no connection has the hash of %.40q: %+v", sent, got.connections)
				}
				if c.Host != "evil.example" || c.Port != 80 || c.Bytes != int64(len(sent)) || string(c.Head) != sent[:min(10, len(sent))] {
					t.Errorf("%.40q is recorded as %+v", sent, c)
				}
			}
		})
	}
}

func TestASenderWithoutEndHoldsNothingBack(t *testing.T) {
	got := runBox(t, wire.Setup{
		Listeners: []wire.Listener{{Host: "h", Address: "127.0.0.2", Port: 80}},
		Agent:     bash(`yes >/dev/tcp/127.0.0.2/80 & exec 3>/dev/tcp/127.0.0.2/80; yes >&3 & exit 9`),
	})
	if got.exited.Code != 9 || len(got.connections) != 2 {
		t.Errorf("exited %+v with %d connections, want 9 with two", got.exited, len(got.connections))
	}
}

func TestWhatWasSentBeforeAResetIsTaken(t *testing.T) {
	near, far := pair(t)
	_, err := near.Write([]byte("sent"))
	check(t, err)
	check(t, near.SetLinger(0))
	check(t, near.Close())
	c := newCapture(far, 100)
	check(t, takeSent(far, c))
	if got := c.connection(wire.Listener{}); string(got.Head) != "sent" {
		t.Errorf("captured %+v, want the four bytes", got)
	}
}

func TestSendQueueIsFoundInTheKernelsTables(t *testing.T) {
	const tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0200007F:0050 00000000:0000 0A 00000000:00000001 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0200007F:0050 0100007F:A2C4 01 00000000:000004D2 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:A2C4 0200007F:0050 04 0012D687:00000000 01:00000014 00000000     0        0 0 1 0 20 4 30 10 -1
`
	const tcp6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:9C40 01 00000007:00000000 00:00000000 00000000     0        0 3
   1: 0000000000000000FFFF00000100007F:9C41 0000000000000000FFFF00000200007F:0050 01 00000009:00000000 00:00000000 00000000     0        0 4
`
	for name, c := range map[string]struct {
		table, local, remote string
		want                 int64
		found                bool
	}{
		"a sender that has closed":     {tcp, "127.0.0.1:41668", "127.0.0.2:80", 0x12d687, true},
		"the other direction":          {tcp, "127.0.0.2:80", "127.0.0.1:41668", 0, true},
		"another port":                 {tcp, "127.0.0.1:41669", "127.0.0.2:80", 0, false},
		"IPv6":                         {tcp6, "[::1]:8080", "[::1]:40000", 7, true},
		"IPv4 through an IPv6 socket":  {tcp6, "127.0.0.1:40001", "127.0.0.2:80", 9, true},
		"a table without a line":       {"", "127.0.0.1:1", "127.0.0.2:2", 0, false},
		"a table of an unknown format": {"a b c d e\n0: 1 2 3 4:5\n", "127.0.0.1:1", "127.0.0.2:2", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, found := findSendQueue([]byte(c.table), netip.MustParseAddrPort(c.local), netip.MustParseAddrPort(c.remote))
			if got != c.want || found != c.found {
				t.Errorf("queue %d, found %t, want %d, %t", got, found, c.want, c.found)
			}
		})
	}
}

func TestOrdinaryHTTPClientsFinish(t *testing.T) {
	got := runBox(t, wire.Setup{
		Listeners: []wire.Listener{
			{Host: "a.example", Address: "127.0.0.2", Port: 80},
			{Host: "::1", Address: "::1", Port: 8080},
		},
		CaptureLimit: 1 << 20,
		Agent: bash(`
			head -c 300000 /dev/zero >/tmp/body
			busybox wget -q -O - --post-data key=secret http://127.0.0.2/post && echo posted
			busybox wget -q -O - 'http://[::1]:8080/get' && echo got
			exec 3<>/dev/tcp/127.0.0.2/80
			printf 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n' >&3
			read -r line <&3; echo "${line%?}"
			{ printf '%x\r\n' 300000; cat /tmp/body; printf '\r\n0\r\n\r\n'; } >&3
			tr -d '\r' <&3`),
	})
	want := "posted\ngot\nHTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\nContent-Length: 0\nConnection: close\n\n"
	if got.stdout != want {
		t.Errorf("clients saw %q, want %q\n%s", got.stdout, want, got.stderr)
	}
	var heads string
	for _, c := range got.connections {
		heads += fmt.Sprintf("%s %d %.10q;", c.Host, c.Port, c.Head)
		if c.Bytes != int64(len(c.Head)) || digest.Sum(c.Head).String() != c.Hash {
			t.Errorf("%s: %d bytes under %s are not the %d that were kept", c.Host, c.Bytes, c.Hash, len(c.Head))
		}
	}
	for _, want := range []string{`a.example 80 "POST /post";`, `::1 8080 "GET /get H";`, `a.example 80 "PUT / HTTP";`} {
		if !strings.Contains(heads, want) {
			t.Errorf("no connection %s in %s", want, heads)
		}
	}
}

func TestAHostileRequestHeadIsNotHeldInMemory(t *testing.T) {
	var out bytes.Buffer
	endless := &io.LimitedReader{R: forever('a'), N: 1 << 30}
	answerHTTP(io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\nA: "), endless), halfDuplex{&out})
	if read := 1<<30 - endless.N; read > 2*maxRequestHead || out.Len() > 0 {
		t.Errorf("%d bytes of an endless head were read and %q answered", read, out.String())
	}
}

// forever reads as the same byte without end.
type forever byte

func (f forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

// halfDuplex is a stream whose output is a buffer.
type halfDuplex struct{ *bytes.Buffer }

func (halfDuplex) CloseWrite() error { return nil }
func (halfDuplex) Close() error      { return nil }
