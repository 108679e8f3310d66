package gateway

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	"golang.org/x/net/netutil"
)

// Config is everything that a gateway of one attempt needs.
type Config struct {
	// Listener is where the box connects, usually a Unix socket. The gateway owns it.
	Listener net.Listener
	Upstream Upstream
	// Model is the name that the upstream knows the model by; it replaces the
	// one that the agent asks for.
	Model    string
	Sampling Pins
	// MaxTurns is how many requests are answered by the upstream, and MaxTokens
	// how many tokens may be used before the last of them. What comes after
	// either limit gets an error.
	MaxTurns  int
	MaxTokens int64
	// Token is the idempotency token of the instance.
	Token string
}

// Gateway serves one attempt. It is made by Serve.
type Gateway struct {
	ctx    context.Context
	config Config
	pins   []pin
	server *http.Server
	served chan struct{} // closed when the server has stopped accepting
	slots  chan struct{} // holds one value for each request in memory
	order  order

	// What follows belongs to the exchange that order lets pass.
	transcript Transcript
	recorded   int64 // bytes
	turns      int
	tokens     int64
}

// Serve answers on config.Listener until Close. Cancelling ctx gives up what is
// being asked of the upstream; without that, Close lets it finish.
func Serve(ctx context.Context, config Config) (*Gateway, error) {
	pins, err := config.Sampling.pinned(config.Model)
	if err != nil {
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	g := &Gateway{
		ctx: ctx, config: config, pins: pins,
		served: make(chan struct{}), slots: make(chan struct{}, maxRequests),
	}
	g.server = &http.Server{
		Handler:                      http.HandlerFunc(g.serveHTTP),
		ReadHeaderTimeout:            headTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               hardMaxHeader,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is recorded like anything else
		// What net/http has to say is about bytes that the agent chose.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(g.served)
		// Serve ends with ErrServerClosed, or with the listener: then the agent
		// finds no model, which its transcript shows.
		_ = g.server.Serve(netutil.LimitListener(config.Listener, maxConnections))
	}()
	return g, nil
}

// Close takes no further request, waits for the answers under way, cuts all
// connections and returns the record. An exchange that the agent did not wait
// for is therefore recorded in full, whenever its box ended.
func (g *Gateway) Close() Transcript {
	g.order.close()
	// The connections are the agent's; how they end is of no interest.
	_ = g.server.Close()
	<-g.served
	return g.transcript
}
