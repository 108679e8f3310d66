package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const realKey = "sk-test-0123456789abcdefghijklmnop"

// waits keeps the pauses that an upstream would have made.
type waits struct {
	mu   sync.Mutex
	list []time.Duration
}

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, d)
	return ctx.Err()
}

// provided is an upstream for a test server, with four tries and no time lost.
func provided(t *testing.T, url string, w *waits) *OpenAI {
	t.Helper()
	if w == nil {
		w = new(waits)
	}
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	o, err := NewOpenAI(OpenAIConfig{
		BaseURL: url, Key: realKey, Client: &http.Client{Transport: transport},
		Wait: w.wait, Jitter: func() float64 { return 0.5 }, Tries: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// provider plays one step for each request and keeps what came.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	steps  []http.HandlerFunc
	bodies []string
	keys   []string
	heads  []http.Header
}

func play(t *testing.T, steps ...http.HandlerFunc) *provider {
	p := &provider{steps: steps}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	step := p.steps[min(len(p.bodies), len(p.steps)-1)]
	p.bodies = append(p.bodies, string(body))
	p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
	p.heads = append(p.heads, r.Header)
	p.mu.Unlock()
	step(w, r)
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"message":"no: %s"}}`, r.Header.Get("Authorization"))
	}
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	}
}

// cuts sends body and breaks the connection.
func cuts(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		says(contentType, body)(w, r)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func hangsUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const okStream = "data: {\"model\":\"real-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"o\"}}]}\n\n" +
	"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"k\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestAStormIsWeatheredWithEqualBodiesAndKeys(t *testing.T) {
	p := play(t, status(429, "Retry-After", "7"), status(500), hangsUp, says("application/json", okBody))
	var w waits
	b := serve(t, Config{Upstream: provided(t, p.URL, &w), Model: "gpt", Token: "t", Sampling: Pins{Temperature: ptr(0.25)}})
	if got := b.post(t, hello); got.status != 200 || got.body != okBody {
		t.Fatalf("the agent got %d %s", got.status, got.body)
	}
	for i, body := range p.bodies {
		if body != p.bodies[0] || p.keys[i] != p.keys[0] || len(p.keys[i]) != 64 {
			t.Errorf("try %d sent %s under %q, the first %s under %q", i, body, p.keys[i], p.bodies[0], p.keys[0])
		}
	}
	want := []time.Duration{7 * time.Second, 750 * time.Millisecond, 1500 * time.Millisecond}
	if fmt.Sprint(w.list) != fmt.Sprint(want) {
		t.Errorf("waited %v, want %v", w.list, want)
	}
	e := b.gateway.Close().Exchanges
	if len(e) != 1 || e[0].Retries != 3 || string(e[0].Effective) != p.bodies[0] || e[0].Err != "" {
		t.Errorf("recorded %d exchanges, the first %s", len(e), e[0].Meta())
	}
}

func TestDifferentCallsHaveDifferentIdempotencyKeys(t *testing.T) {
	p := play(t, says("application/json", okBody))
	b := serve(t, Config{Upstream: provided(t, p.URL, nil), Token: "t"})
	b.post(t, hello)
	b.post(t, hello)
	if p.keys[0] == p.keys[1] {
		t.Error("two calls share an idempotency key")
	}
}

func TestWhichFailuresAreTriedAgain(t *testing.T) {
	ok := says("application/json", okBody)
	for _, tt := range []struct {
		name   string
		first  http.HandlerFunc
		tries  int
		status int // what the agent gets
	}{
		{"408 is", status(408), 2, 200},
		{"409 is", status(409), 2, 200},
		{"429 is", status(429), 2, 200},
		{"500 is", status(500), 2, 200},
		{"503 is", status(503), 2, 200},
		{"529 is", status(529), 2, 200},
		{"a connection that breaks is", hangsUp, 2, 200},
		{"an answer that breaks off is", cuts("application/json", `{"cho`), 2, 200},
		{"a stream that breaks before its first byte is", cuts("text/event-stream", ""), 2, 200},
		{"400 is about the request, and the agent sees it", status(400), 1, 400},
		{"422 is, too", status(422), 1, 422},
		{"a bad key is the harness's own fault", status(401), 1, 424},
		{"so is a model that does not exist", status(404), 1, 424},
		{"so is a redirect, which is not followed", status(303, "Location", "/elsewhere"), 1, 424},
		{"so is an answer in a compression nobody asked for", status(200, "Content-Encoding", "br"), 1, 424},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := play(t, tt.first, ok)
			b := serve(t, Config{Upstream: provided(t, p.URL, nil)})
			got := b.post(t, hello)
			if got.status != tt.status || len(p.bodies) != tt.tries {
				t.Errorf("status %d after %d tries: %s", got.status, len(p.bodies), got.body)
			}
			transcript := b.gateway.Close()
			if broken := transcript.Err() != nil; broken != (tt.status == 424) {
				t.Errorf("the transcript's error is %v", transcript.Err())
			}
		})
	}
}

func TestAfterTheLastTryThereIsOneErrorThatClientsDoNotRetry(t *testing.T) {
	p := play(t, status(503, "Retry-After", "100000"))
	var w waits
	b := serve(t, Config{Upstream: provided(t, p.URL, &w)})
	got := b.post(t, hello)
	if got.status != 424 || got.header.Get("X-Should-Retry") != "false" || !strings.Contains(got.body, codeUpstream) {
		t.Errorf("the agent got %d %s", got.status, got.body)
	}
	if len(p.bodies) != 4 || len(w.list) != 3 || w.list[0] != longestRetryAfter {
		t.Errorf("%d tries, waited %v", len(p.bodies), w.list)
	}
	// Asking on is of no use, and costs nothing.
	if got := b.post(t, hello); got.status != 424 || len(p.bodies) != 4 {
		t.Errorf("then the agent got %d after %d tries", got.status, len(p.bodies))
	}
	transcript := b.gateway.Close()
	var broken *BrokenError
	if !errors.As(transcript.Err(), &broken) || broken.Seq != 0 || !strings.Contains(broken.Reason, "4 tries: the server answers 503") {
		t.Errorf("the transcript's error is %v", transcript.Err())
	}
	if len(transcript.Exchanges) != 2 {
		t.Errorf("%d exchanges", len(transcript.Exchanges))
	}
}

func TestAStreamThatBreaksIsNeverSpliced(t *testing.T) {
	head, _, _ := strings.Cut(okStream, "data: {\"choices\"")
	for name, step := range map[string]http.HandlerFunc{
		"the connection is cut":          cuts("text/event-stream", head),
		"it ends cleanly but unfinished": says("text/event-stream", head),
		"it ends in an error":            says("text/event-stream", head+"data: {\"error\":{\"message\":\"overloaded\"}}\n\ndata: [DONE]\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, step, says("text/event-stream", okStream))
			b := serve(t, Config{Upstream: provided(t, p.URL, nil)})
			got := b.post(t, `{"stream":true,"messages":[{"role":"user","content":"x"}]}`)
			if got.err == nil {
				t.Errorf("the agent's stream ends cleanly after %q", got.body)
			}
			if len(p.bodies) != 1 {
				t.Errorf("asked %d times", len(p.bodies))
			}
			transcript := b.gateway.Close()
			e := transcript.Exchanges[0]
			if transcript.Err() == nil || e.Outcome != Broken || !strings.HasPrefix(string(e.Response), head) {
				t.Errorf("recorded as %s with %q", e.Meta(), e.Response)
			}
			if transcript.FinalText() != "" {
				t.Errorf("a broken stream counts as the text %q", transcript.FinalText())
			}
		})
	}
}

func TestAStreamReachesTheAgentWhileItIsStillBeingMade(t *testing.T) {
	head, rest, _ := strings.Cut(okStream, "\n\n")
	seen := make(chan struct{})
	p := play(t, func(w http.ResponseWriter, r *http.Request) {
		says("text/event-stream", head)(w, r)
		w.(http.Flusher).Flush()
		<-seen // the agent has the first event, or this test never ends
		io.WriteString(w, "\n\n"+rest)
	})
	b := serve(t, Config{Upstream: provided(t, p.URL, nil)})
	response, err := b.client.Post("http://box/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	first := make([]byte, len(head))
	if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != head {
		t.Fatalf("%q, %v", first, err)
	}
	close(seen)
	if more, err := io.ReadAll(response.Body); err != nil || string(more) != "\n\n"+rest {
		t.Errorf("%q, %v", more, err)
	}
}

func TestAStreamIsRecordedInFullThoughTheAgentHasGone(t *testing.T) {
	head, rest, _ := strings.Cut(okStream, "\n\n")
	rest = "\n\n" + strings.Repeat(": keep-alive\n\n", 100_000) + rest
	gone := make(chan struct{})
	p := play(t, func(w http.ResponseWriter, r *http.Request) {
		says("text/event-stream", head)(w, r)
		w.(http.Flusher).Flush()
		<-gone
		io.WriteString(w, rest)
	})
	b := serve(t, Config{Upstream: provided(t, p.URL, nil)})
	response, err := b.client.Post("http://box/v1/chat/completions", "application/json", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	close(gone)
	transcript := b.gateway.Close()
	if e := transcript.Exchanges[0]; e.Outcome != Answered || string(e.Response) != head+rest {
		t.Errorf("recorded %d of %d bytes, %s", len(e.Response), len(head+rest), e.Err)
	}
}

func TestLargeAnswersPassByteByByte(t *testing.T) {
	large := strings.Repeat("ä😀\x7f ", 700_000)
	quoted := strings.Repeat(`ä😀\u007f `, 700_000)
	for contentType, body := range map[string]string{
		"application/json":  strings.Replace(okBody, `"ok"`, `"`+quoted+`"`, 1),
		"text/event-stream": strings.Replace(okStream, `"o"`, `"`+quoted+`"`, 1),
	} {
		t.Run(contentType, func(t *testing.T) {
			p := play(t, says(contentType, body))
			b := serve(t, Config{Upstream: provided(t, p.URL, nil)})
			if got := b.post(t, hello); got.body != body {
				t.Fatalf("the agent got other %d bytes (%v)", len(got.body), got.err)
			}
			transcript := b.gateway.Close()
			if !bytes.Equal(transcript.Exchanges[0].Response, []byte(body)) {
				t.Error("recorded are other bytes")
			}
			if got := transcript.FinalText(); !strings.HasPrefix(got, large[:len(large)-1]) {
				t.Errorf("final text of %d bytes", len(got))
			}
		})
	}
}

func TestTheKeyGoesToTheServerAndNowhereElse(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "text/event-stream; key="+key)
		for _, piece := range []string{`data: {"choices":[{"index":0,"delta":{"content":"` + key[:9], key[9:] + `"}}]}`, "\n\ndata: [DONE]\n\n"} {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
	for name, step := range map[string]http.HandlerFunc{
		"a stream echoes it in two pieces": echo,
		"a final error echoes it":          status(401),
		"an error for the agent echoes it": status(400),
		"an overload echoes it":            status(500),
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, step)
			upstream := provided(t, p.URL, nil)
			b := serve(t, Config{Upstream: upstream})
			r, err := http.NewRequestWithContext(t.Context(), "POST", "http://box/v1/chat/completions", strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer from-the-box")
			r.Header.Set("X-Api-Key", "from-the-box")
			got := b.do(t, r)
			transcript := b.gateway.Close()
			seen := fmt.Sprintf("%v %+v %#v %v", got, transcript, transcript, transcript.Err())
			seen += fmt.Sprintf("%s %s", transcript.Exchanges[0].Response, transcript.Exchanges[0].Meta())
			seen += fmt.Sprintf("%v %+v %#v", upstream, upstream, upstream.key)
			if strings.Contains(seen, realKey) {
				t.Errorf("the key shows in %s", seen)
			}
			if !strings.Contains(seen, strings.Repeat("*", len(realKey))) {
				t.Errorf("the test shows nothing: no echo in %s", seen)
			}
			for _, head := range p.heads {
				if head.Get("Authorization") != "Bearer "+realKey {
					t.Errorf("the server got %q", head.Get("Authorization"))
				}
				if s := fmt.Sprint(head); strings.Contains(s, "from-the-box") {
					t.Errorf("the box's own headers went on: %s", s)
				}
			}
			if strings.Contains(seen, "from-the-box") {
				t.Error("the box's own headers are recorded")
			}
		})
	}
}

func TestAnUnreachableServerIsNamedWithoutItsURL(t *testing.T) {
	p := play(t, hangsUp)
	p.Close()
	_, err := provided(t, p.URL+"/"+realKey, nil).Send(t.Context(), Request{Body: []byte("{}")})
	if err == nil || strings.Contains(err.Error(), realKey) {
		t.Errorf("error %v", err)
	}
}

func TestBaseURLsWithSecretsAreRefusedWithoutRepeatingThem(t *testing.T) {
	for _, url := range []string{"http://user:hunter2@host/v1", "http://host/v1?key=hunter2", "ftp://host/hunter2", "http://ho st/hunter2", "hunter2"} {
		if _, err := NewOpenAI(OpenAIConfig{BaseURL: url, Client: new(http.Client)}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestCancellingGivesUpAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := play(t, func(w http.ResponseWriter, r *http.Request) { cancel(); status(500)(w, r) })
	if _, err := provided(t, p.URL, nil).Send(ctx, Request{Body: []byte("{}")}); !errors.Is(err, context.Canceled) || len(p.bodies) != 1 {
		t.Errorf("%v after %d tries", err, len(p.bodies))
	}
}

func TestPausesDoubleUpToALimitAndJitterTakesOffAtMostHalf(t *testing.T) {
	for _, tt := range []struct {
		try    int
		after  time.Duration
		jitter float64
		want   time.Duration
	}{
		{0, 0, 0, 500 * time.Millisecond},
		{1, 0, 0, time.Second},
		{2, 0, 0.5, 1500 * time.Millisecond},
		{6, 0, 0, longestPause},
		{1000, 0, 0, longestPause},
		{0, 3 * time.Second, 0.9, 3 * time.Second},
		{0, time.Hour, 0, longestRetryAfter},
	} {
		if got := pause(tt.try, tt.after, tt.jitter); got != tt.want {
			t.Errorf("pause(%d, %v, %v) = %v, want %v", tt.try, tt.after, tt.jitter, got, tt.want)
		}
	}
}

func TestRetryAfterTakesSecondsAndDates(t *testing.T) {
	const date = "Tue, 01 Dec 2026 00:00:00 GMT"
	for _, tt := range []struct {
		value, date string
		want        time.Duration
	}{
		{"30", "", 30 * time.Second},
		{"Tue, 01 Dec 2026 00:00:20 GMT", date, 20 * time.Second},
		{"Mon, 30 Nov 2026 00:00:20 GMT", date, 0},
		{"Tue, 01 Dec 2026 00:00:20 GMT", "", 0},
		{"-5", date, 0}, {"soon", date, 0}, {"", date, 0}, {"99999999999999999999", date, 0},
	} {
		header := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
		if got := retryAfter(header); got != tt.want {
			t.Errorf("%q at %q: %v, want %v", tt.value, tt.date, got, tt.want)
		}
	}
}

func TestMaskingWorksHoweverTheBytesAreCut(t *testing.T) {
	s := &secret{realKey}
	text := "a" + realKey + realKey[:20] + realKey + "sk-tes"
	want := strings.ReplaceAll(text, realKey, s.mask())
	for size := 1; size < len(text); size++ {
		r := s.reader(pieceReader{strings.NewReader(text), size})
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Fatalf("in pieces of %d: %q, %v", size, got, err)
		}
	}
	short := &secret{"EMPTY"}
	if got := short.scrub("EMPTY"); got != "EMPTY" {
		t.Errorf("a placeholder is masked: %q", got)
	}
}

// pieceReader reads at most size bytes at a time.
type pieceReader struct {
	r    io.Reader
	size int
}

func (p pieceReader) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size)]) }
