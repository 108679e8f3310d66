package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// OpenAIConfig says where an OpenAI-compatible server is and how to be patient
// with it. Everything but Key is needed.
type OpenAIConfig struct {
	// BaseURL is what OPENAI_BASE_URL has: "/chat/completions" is put after it.
	BaseURL string
	// Key is the real key. It goes into the Authorization header of requests to
	// BaseURL and nowhere else; empty sends none.
	Key string
	// Client has the time limits of single tries. Redirects are never followed.
	Client *http.Client
	// Wait sleeps, or returns early with the error of the context.
	Wait func(context.Context, time.Duration) error
	// Jitter draws from [0, 1). It spreads out retries and shapes nothing else.
	Jitter func() float64
	// Tries bounds how often one call is sent; less than 1 is 1.
	Tries int
}

// OpenAI is any server that speaks Chat Completions.
type OpenAI struct {
	endpoint string
	key      *secret
	client   *http.Client
	wait     func(context.Context, time.Duration) error
	jitter   func() float64
	tries    int
}

// NewOpenAI checks the URL; it connects to nothing.
func NewOpenAI(config OpenAIConfig) (*OpenAI, error) {
	base, err := url.Parse(config.BaseURL)
	// The text of a parse error repeats the URL, which may hold a password.
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("the base URL of the model server is not an http or https URL")
	}
	if base.User != nil || base.RawQuery != "" {
		return nil, errors.New("the base URL of the model server holds a password or a query: give the key as the key")
	}
	client := *config.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &OpenAI{
		endpoint: base.JoinPath("chat", "completions").String(),
		key:      &secret{config.Key}, client: &client,
		wait: config.Wait, jitter: config.Jitter, tries: max(config.Tries, 1),
	}, nil
}

// Send tries until there is an answer, the error is one that will not go away,
// or the tries are used up. A stream is an answer as soon as its first bytes are
// there; whatever else is read whole first.
func (o *OpenAI) Send(ctx context.Context, request Request) (*Response, error) {
	for try := 0; ; try++ {
		response, err := o.try(ctx, request)
		if err == nil {
			response.Retries = try
			return response, nil
		}
		var failed *tryError
		if ctx.Err() != nil {
			return nil, fmt.Errorf("ask the model: %w", context.Cause(ctx))
		}
		if !errors.As(err, &failed) || !failed.again || try+1 >= o.tries {
			return nil, fmt.Errorf("ask the model, %d tries: %w", try+1, err)
		}
		if err := o.wait(ctx, pause(try, failed.after, o.jitter())); err != nil {
			return nil, fmt.Errorf("ask the model: %w", err)
		}
	}
}

// try sends the request once.
func (o *OpenAI) try(ctx context.Context, request Request) (*Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.endpoint, bytes.NewReader(request.Body))
	if err != nil {
		return nil, errors.New("make the request")
	}
	// The client must not send the body a second time by itself when a
	// connection turns out to be dead: every sending is counted here.
	r.GetBody = nil
	r.Header.Set("Content-Type", "application/json")
	if request.Stream {
		r.Header.Set("Accept", "text/event-stream")
	}
	r.Header.Set("Idempotency-Key", request.IdempotencyKey)
	r.Header.Set("Accept-Encoding", "identity") // or the record is of compressed bytes
	r.Header.Set("User-Agent", "litmus")
	if o.key.value != "" {
		r.Header.Set("Authorization", "Bearer "+o.key.value)
	}
	response, err := o.client.Do(r)
	if err != nil {
		return nil, &tryError{again: true, reason: o.key.scrub(withoutURL(err).Error())}
	}
	if err := o.check(response); err != nil {
		return nil, errors.Join(err, response.Body.Close())
	}
	return o.receive(response)
}

// withoutURL takes the URL out of an error of the HTTP client's.
func withoutURL(err error) error {
	var located *url.Error
	if errors.As(err, &located) {
		return located.Err
	}
	return err
}

// receive reads as much of an answer as a retry may still undo.
func (o *OpenAI) receive(response *http.Response) (*Response, error) {
	answer := &Response{
		Status:      response.StatusCode,
		ContentType: o.key.scrub(response.Header.Get("Content-Type")),
	}
	body := o.key.reader(response.Body)
	if isEventStream(answer.ContentType) {
		first := make([]byte, 4<<10)
		n, err := body.Read(first)
		if n == 0 && err != nil {
			return nil, errors.Join(&tryError{again: true, reason: "the stream broke before it began"}, response.Body.Close())
		}
		answer.Body = streamBody{io.MultiReader(bytes.NewReader(first[:n]), body), response.Body}
		return answer, nil
	}
	whole, err := io.ReadAll(io.LimitReader(body, maxResponse+1))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, &tryError{again: true, reason: "the answer broke off"}
	}
	answer.Body = io.NopCloser(bytes.NewReader(whole))
	return answer, nil
}

type streamBody struct {
	io.Reader
	io.Closer
}
