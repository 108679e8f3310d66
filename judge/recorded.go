package judge

import (
	"errors"
	"fmt"

	"litmus/internal/digest"
)

// ErrNotRecorded says that a judge was handed the zero Recorded.
var ErrNotRecorded = errors.New("the judge input was never recorded")

// HashError says that stored bytes are not those that were recorded.
type HashError struct{ Recorded, Found digest.Hash }

func (e *HashError) Error() string {
	return fmt.Sprintf("the judge input was recorded as %s, its bytes hash to %s", e.Recorded, e.Found)
}

// Store keeps judge inputs. When PutJudgeInput returns nil the bytes outlast
// this process; it neither changes them nor keeps the slice.
type Store interface {
	PutJudgeInput(hash digest.Hash, b []byte) error
}

// Recorded is a judge input that a store holds: the only thing a judge takes.
// Record and Recover are the only ways to one.
type Recorded struct {
	text string
	hash digest.Hash
}

// Hash returns the hash under which the input was recorded.
func (r Recorded) Hash() digest.Hash { return r.hash }

// Record hashes r and stores it, and only then lets it be judged.
func Record(r Rendered, store Store) (Recorded, error) {
	if r.text == "" {
		return Recorded{}, ErrNotRecorded
	}
	hash := r.Hash()
	if err := store.PutJudgeInput(hash, r.Bytes()); err != nil {
		return Recorded{}, fmt.Errorf("record judge input %s: %w", hash, err)
	}
	return Recorded{r.text, hash}, nil
}

// Recover takes a judge input back out of a store. It returns a *HashError when
// b is not what was recorded under hash.
func Recover(hash digest.Hash, b []byte) (Recorded, error) {
	if found := digest.Sum(b); found != hash {
		return Recorded{}, &HashError{hash, found}
	}
	return Recorded{string(b), hash}, nil
}
