package runner

import "sync"

// Progress is how far a run is. Before counts the instances that an earlier
// process had finished already.
type Progress struct {
	Done, Total, Before int
	Dispositions        map[string]int
}

// tally counts what is done and reports it, one call at a time.
type tally struct {
	mu     sync.Mutex
	state  Progress
	report func(Progress)
}

func (t *tally) add(disposition string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.Done++
	t.state.Dispositions[disposition]++
	if t.report != nil {
		t.report(t.state)
	}
}
