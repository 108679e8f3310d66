package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

func TestWhatGoesUpstreamIsThePinnedRequestAndBothAreRecorded(t *testing.T) {
	var upstream completion
	b := serve(t, Config{Upstream: &upstream, Model: "pinned", Sampling: Pins{Temperature: ptr(0.0)}})
	const asked = `{ "model":"mine", "temperature":2, "x-unknown":[1.0], "top_k":5, "messages":[{"role":"user","content":"hello"}] }`
	const sent = `{ "model":"pinned", "temperature":0, "x-unknown":[1.0], "messages":[{"role":"user","content":"hello"}] }`
	if got := b.post(t, asked); got.status != 200 || got.body != okBody {
		t.Fatalf("%d %s", got.status, got.body)
	}
	e := b.gateway.Close().Exchanges[0]
	if string(e.Request) != asked || string(e.Effective) != sent || string(upstream.asked[0].Body) != sent || string(e.Response) != okBody {
		t.Errorf("asked %s\nsent %s\nrecorded %s", e.Request, upstream.asked[0].Body, e.Effective)
	}
	if !strings.Contains(string(e.RequestedSampling), `"temperature":2`) || !strings.Contains(string(e.EffectiveSampling), `"temperature":0`) {
		t.Errorf("sampling %s → %s", e.RequestedSampling, e.EffectiveSampling)
	}
	if e.Model != "real-1" || e.Fingerprint != "fp" || e.Usage != (Usage{3, 4, false}) {
		t.Errorf("recorded as %s", e.Meta())
	}
}

func TestAnythingElseIsNotFoundAndRecorded(t *testing.T) {
	for _, request := range []string{
		"GET / HTTP/1.1", "GET /v1/chat/completions HTTP/1.1", "POST /v1/models HTTP/1.1", "POST /v1/responses HTTP/1.1",
		"POST /v1/chat/completions/ HTTP/1.1", "POST /v1//chat/completions HTTP/1.1", "OPTIONS * HTTP/1.1",
		"CONNECT example.com:443 HTTP/1.1", "BREW /%2e%2e/\xff HTTP/1.1",
	} {
		t.Run(request, func(t *testing.T) {
			b := serve(t, Config{Upstream: new(completion)})
			head, body := raw(t, b, request+"\r\nHost: box\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 404 ") || !strings.Contains(body, codeNotFound) {
				t.Errorf("the agent got %s %s", head, body)
			}
			transcript := b.gateway.Close()
			if len(transcript.Exchanges) != 1 || transcript.Exchanges[0].Outcome != Refused || transcript.Exchanges[0].Status != 404 {
				t.Fatalf("recorded %d exchanges", len(transcript.Exchanges))
			}
			transcript.Exchanges[0].Meta() // whatever the path holds, it has a text form
		})
	}
}

// raw writes text to a connection of its own and returns the answer's head and body.
func raw(t *testing.T, b *box, text string) (head, body string) {
	t.Helper()
	conn, err := net.Dial("unix", b.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, text)
	answer, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil && len(answer) == 0 {
		t.Fatal(err)
	}
	head, body, _ = strings.Cut(string(answer), "\r\n\r\n")
	return head, body
}

func TestTheAnswersHeadTellsNothingOfTheHost(t *testing.T) {
	b := serve(t, Config{Upstream: new(completion)})
	head, _ := raw(t, b, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: box\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello+"GET / HTTP/1.0\r\n\r\n"))
	want := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: application/json", len(okBody))
	if head != want {
		t.Errorf("head %q, want %q", head, want)
	}
}

func TestOversizedRequestsAreRefusedAndRecordedWithoutTheirBytes(t *testing.T) {
	for name, tt := range map[string]struct {
		request string
		status  int
	}{
		"a body over 10 MiB": {fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: box\r\nContent-Length: %d\r\n\r\n%s", maxBody+1, strings.Repeat(" ", maxBody+1)), 413},
		"one that does not say how long it is": {"POST /v1/chat/completions HTTP/1.1\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", maxBody+1, strings.Repeat(" ", maxBody+1)), 413},
		"a head over 64 KiB":         {"POST /v1/chat/completions HTTP/1.1\r\nHost: box\r\nConnection: close\r\nX: " + strings.Repeat("x", maxHeader) + "\r\n\r\n", 431},
		"a head of many small lines": {"GET /v1/models HTTP/1.1\r\nHost: box\r\nConnection: close\r\n" + strings.Repeat("X: y\r\n", maxHeader/5) + "\r\n", 431},
		"a body that ends early":     {"POST /v1/chat/completions HTTP/1.1\r\nHost: box\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t, Config{Upstream: new(completion)})
			head, body := raw(t, b, tt.request)
			if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) || !strings.Contains(body, "litmus_gateway") {
				t.Errorf("the agent got %.200s %.200s", head, body)
			}
			transcript := b.gateway.Close()
			if len(transcript.Exchanges) != 1 || transcript.Exchanges[0].Outcome != Refused || transcript.Exchanges[0].Request != nil {
				t.Errorf("recorded %+v", transcript.Exchanges)
			}
		})
	}
}

func TestLimitsEndAConversationWithAnErrorThatClientsDoNotRetry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config Config
		turns  int
		limit  Limit
		code   string
	}{
		{"turns", Config{MaxTurns: 2}, 2, LimitTurns, codeTurnLimit},
		{"tokens, of which an answer uses seven", Config{MaxTokens: 15}, 3, LimitTokens, codeTokenLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var upstream completion
			tt.config.Upstream = &upstream
			b := serve(t, tt.config)
			b.post(t, "no turn is used by this")
			for i := range tt.turns {
				if got := b.post(t, hello); got.status != 200 {
					t.Fatalf("turn %d: %d %s", i, got.status, got.body)
				}
			}
			for range 2 {
				got := b.post(t, hello)
				if got.status != 400 || !strings.Contains(got.body, tt.code) || got.header.Get("X-Should-Retry") != "false" {
					t.Errorf("then %d %s", got.status, got.body)
				}
			}
			transcript := b.gateway.Close()
			last := transcript.Exchanges[len(transcript.Exchanges)-1]
			if transcript.Limit != tt.limit || len(upstream.asked) != tt.turns || len(transcript.Exchanges) != tt.turns+3 || last.Outcome != Limited || transcript.Err() != nil {
				t.Errorf("limit %q after %d turns, %d exchanges", transcript.Limit, len(upstream.asked), len(transcript.Exchanges))
			}
		})
	}
}

func TestALimitThatIsNotReachedIsNotReported(t *testing.T) {
	b := serve(t, Config{Upstream: new(completion), MaxTurns: 1})
	b.post(t, hello)
	if limit := b.gateway.Close().Limit; limit != LimitNone {
		t.Errorf("limit %q", limit)
	}
}

func TestTheRecordOfAnEndlessAgentEnds(t *testing.T) {
	b := serve(t, Config{Upstream: new(completion)})
	for range maxExchanges + 5 {
		b.post(t, "x")
	}
	transcript := b.gateway.Close()
	last := transcript.Exchanges[len(transcript.Exchanges)-1]
	if len(transcript.Exchanges) != maxExchanges+1 || transcript.Limit != LimitRecord || last.Outcome != Limited {
		t.Errorf("%d exchanges, limit %q, the last is %s", len(transcript.Exchanges), transcript.Limit, last.Meta())
	}
}

// gate is an upstream whose answers are let out one by one.
type gate struct {
	asked   chan Request
	release chan struct{}
}

func (g *gate) Send(ctx context.Context, r Request) (*Response, error) {
	g.asked <- r
	select {
	case <-g.release:
		return new(completion).Send(ctx, r)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestParallelRequestsAreAskedOneByOneInTheOrderOfTheRecord(t *testing.T) {
	upstream := &gate{make(chan Request, 100), make(chan struct{})}
	b := serve(t, Config{Upstream: upstream, MaxTurns: 100})
	var agents sync.WaitGroup
	const n = 30
	for i := range n {
		agents.Go(func() {
			b.post(t, fmt.Sprintf(`{"messages":[{"role":"user","content":"%d"}]}`, i))
		})
	}
	var asked []string
	for range n {
		asked = append(asked, string((<-upstream.asked).Body))
		if len(upstream.asked) > 0 {
			t.Fatal("two requests are upstream at once")
		}
		upstream.release <- struct{}{}
	}
	agents.Wait()
	transcript := b.gateway.Close()
	if len(transcript.Exchanges) != n {
		t.Fatalf("%d exchanges", len(transcript.Exchanges))
	}
	for i, e := range transcript.Exchanges {
		if e.Seq != i || string(e.Effective) != asked[i] {
			t.Errorf("exchange %d has number %d and %s, asked was %s", i, e.Seq, e.Effective, asked[i])
		}
	}
}

func TestOrderIsThatOfArrival(t *testing.T) {
	const n = 50
	var o order
	var turns [n]turn
	for i := range n {
		turns[i], _ = o.arrive()
	}
	passed := make(chan int, n)
	for i := n - 1; i >= 0; i-- { // the last one is the first to wait
		go func() {
			turns[i].wait()
			passed <- turns[i].seq
			turns[i].leave()
		}()
	}
	o.close()
	for i := range n {
		if seq := <-passed; seq != i {
			t.Fatalf("number %d passes in place %d", seq, i)
		}
	}
	if _, ok := o.arrive(); ok {
		t.Error("one arrives after close")
	}
}

func TestAnAgentThatHangsUpIsRecordedAsIfItHadWaited(t *testing.T) {
	upstream := &gate{make(chan Request, 1), make(chan struct{})}
	b := serve(t, Config{Upstream: upstream})
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", "http://box/v1/chat/completions", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	go func() {
		_, err := b.client.Do(r)
		gone <- err
	}()
	<-upstream.asked
	hangUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	closed := make(chan Transcript)
	go func() { closed <- b.gateway.Close() }()
	upstream.release <- struct{}{}
	transcript := <-closed
	if e := transcript.Exchanges[0]; e.Outcome != Answered || string(e.Response) != okBody {
		t.Errorf("recorded as %s", e.Meta())
	}
}

func TestCancellingBreaksWhatIsUnderWay(t *testing.T) {
	upstream := &gate{make(chan Request, 1), make(chan struct{})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	g, err := Serve(ctx, Config{Listener: listener, Upstream: upstream, MaxTurns: 1, MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	go http.Post("http://"+listener.Addr().String()+"/v1/chat/completions", "", strings.NewReader(hello))
	<-upstream.asked
	cancel()
	if transcript := g.Close(); transcript.Err() == nil {
		t.Errorf("recorded %+v", transcript)
	}
}

func TestAfterCloseNothingIsAnswered(t *testing.T) {
	b := serve(t, Config{Upstream: new(completion)})
	b.gateway.Close()
	if response, err := b.client.Post("http://box/v1/chat/completions", "", strings.NewReader(hello)); err == nil {
		t.Errorf("answered with %d", response.StatusCode)
	}
}

func TestPinsWithoutAnExactFormAreRefusedAtTheStart(t *testing.T) {
	if _, err := Serve(t.Context(), Config{Sampling: Pins{Seed: ptr[int64](1<<53 + 1)}}); err == nil || !strings.Contains(err.Error(), "pin seed") {
		t.Errorf("error %v", err)
	}
}
