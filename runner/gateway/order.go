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

// enter waits until every earlier exchange has left. It returns the sequence
// number, counted from 0, and what to call at the end; ok is false after close.
func (o *order) enter() (seq int, leave func(), ok bool) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return 0, nil, false
	}
	seq, before, own := o.next, o.last, make(chan struct{})
	o.next, o.last = seq+1, own
	o.inFlight.Add(1)
	o.mu.Unlock()

	if before != nil {
		<-before
	}
	return seq, func() {
		close(own)
		o.inFlight.Done()
	}, true
}

// close lets nothing in any more and waits until all have left.
func (o *order) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.inFlight.Wait()
}
