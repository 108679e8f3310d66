package gateway

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// box is the agent's end of a gateway on a Unix socket.
type box struct {
	gateway *Gateway
	socket  string
	client  *http.Client
}

// serve starts a gateway with room for ten turns unless config says otherwise.
func serve(t *testing.T, config Config) *box {
	t.Helper()
	dir, err := os.MkdirTemp("", "gw") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	config.Listener = listener
	if config.MaxTurns == 0 {
		config.MaxTurns = 10
	}
	if config.MaxTokens == 0 {
		config.MaxTokens = 1 << 40
	}
	ctx, cancel := context.WithCancel(t.Context())
	g, err := Serve(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(func() { cancel(); g.Close(); transport.CloseIdleConnections() })
	return &box{g, socket, &http.Client{Transport: transport}}
}

// openai returns OpenAI's own client, without its retries.
func (b *box) openai() openai.Client {
	return openai.NewClient(option.WithBaseURL("http://box/v1"), option.WithAPIKey("dummy"),
		option.WithHTTPClient(b.client), option.WithMaxRetries(0))
}

type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (b *box) do(t *testing.T, r *http.Request) answer {
	t.Helper()
	response, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body), err}
}

func (b *box) post(t *testing.T, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://box/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return b.do(t, r)
}

// simulated makes a simulated model or ends the test.
func simulated(t *testing.T, name string, script Script) *Sim {
	t.Helper()
	sim, err := NewSim(name, script)
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// completion is an upstream that says ok, as often as it is asked.
type completion struct{ asked []Request }

const okBody = `{"id":"c","object":"chat.completion","created":7,"model":"real-1","system_fingerprint":"fp","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`

func (c *completion) Send(_ context.Context, r Request) (*Response, error) {
	c.asked = append(c.asked, r)
	return &Response{Status: 200, ContentType: "application/json", Body: io.NopCloser(bytes.NewReader([]byte(okBody)))}, nil
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func ptr[T any](v T) *T { return &v }
