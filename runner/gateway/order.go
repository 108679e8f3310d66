package gateway

import "sync"

// order lets one exchange at a time pass, first come, first served. Requests of
// an agent that asks in parallel get their sequence numbers here, and the order
// that the record has is the order in which the model was asked.
type order struct {
	mu       sync.Mutex
	closed   bool
	next     int
	last     chan struct{} // closed when the exchange that came last has left
	inFlight sync.WaitGroup
}

// turn is the place of one exchange in the order.
type turn struct {
	seq    int             // counted from 0
	before <-chan struct{} // nil for the first one
	own    chan struct{}
	order  *order
}

// arrive takes the next place; ok is false after close.
func (o *order) arrive() (t turn, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return turn{}, false
	}
	t = turn{o.next, o.last, make(chan struct{}), o}
	o.next, o.last = t.seq+1, t.own
	o.inFlight.Add(1)
	return t, true
}

// wait returns when every earlier exchange has left.
func (t turn) wait() {
	if t.before != nil {
		<-t.before
	}
}

// leave lets the next exchange pass.
func (t turn) leave() {
	close(t.own)
	t.order.inFlight.Done()
}

// close gives out no more places and waits until all have left.
func (o *order) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.inFlight.Wait()
}
