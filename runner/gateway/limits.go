package gateway

import "time"

// What one box may cost the host. None of these is a setting: an agent at work
// comes nowhere near them, and each one shapes what a hostile agent gets to see.
const (
	// maxBody is the largest request body that is read.
	maxBody = 10 << 20
	// maxHeader is the largest request head that is served. Above hardMaxHeader
	// net/http itself answers 431 and closes; nothing of such a request is kept.
	maxHeader     = 64 << 10
	hardMaxHeader = 1 << 20
	// maxResponse is the largest answer that is taken from an upstream.
	maxResponse = 64 << 20
	// maxConnections are open at once; further ones wait to be accepted.
	maxConnections = 64
	// maxRequests are in memory at once, body and all; further ones wait unread.
	maxRequests = 8
	// maxExchanges and maxRecorded (bytes) end a transcript that would otherwise
	// grow without bound, since a refused request costs no turn.
	maxExchanges = 1000
	maxRecorded  = 256 << 20
)

// Timeouts against clients that dribble. They cut connections and never an
// exchange that the upstream has begun to answer.
const (
	headTimeout  = 10 * time.Second
	bodyTimeout  = 60 * time.Second
	idleTimeout  = 120 * time.Second
	writeTimeout = 30 * time.Second
)
