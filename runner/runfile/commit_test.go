package runfile

import (
	"testing"

	"litmus/internal/digest"
)

// What a record says must be on file, recorded before it was used.
func TestACommitIsRefusedAndChangesNothing(t *testing.T) {
	other := digest.Sum([]byte("another"))
	for name, c := range map[string]struct {
		want  error
		spoil func(*outcome)
		input bool // record the judge input first
	}{
		"whose judge input was not recorded": {ErrNotScorable, func(*outcome) {}, false},
		"on another judge input than was recorded": {ErrNotScorable, func(o *outcome) {
			o.record.JudgeInput = o.record.Transcript
		}, true},
		"with the token of another instance": {ErrNotScorable, func(o *outcome) { o.record.Token = other }, true},
		"of another mutation":                {ErrNotScorable, func(o *outcome) { o.record.MutationHash = other }, true},
		"of another instance":                {ErrNotScorable, func(o *outcome) { o.record.Instance = instanceID(1) }, true},
		"without the bytes of its evidence":  {ErrNoBlob, func(o *outcome) { o.blobs = o.blobs[1:] }, true},
		"that is incomplete":                 {ErrNotScorable, func(o *outcome) { o.record.Verdict = nil }, true},
		"with bytes that it does not name":   {nil, func(o *outcome) { o.blobs = append(o.blobs, []byte("more")) }, true},
		"with facts that are not canonical":  {nil, func(o *outcome) { o.exchanges[0].Meta = []byte(`{ }`) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			w, _ := newRun(t, 2)
			a, err := w.BeginAttempt(ctx, instanceID(0), instant)
			if err != nil {
				t.Fatal(err)
			}
			o := outcomeOf(a)
			if c.input {
				if err := a.PutJudgeInput(o.record.JudgeInput, o.judgeInput); err != nil {
					t.Fatal(err)
				}
			}
			o.record.Disposition = Scored
			c.spoil(&o)
			err = a.Commit(ctx, End{At: instant, Exchanges: o.exchanges}, o.record, o.blobs...)
			if err == nil {
				t.Fatal("it is accepted")
			}
			if c.want != nil {
				wantError(t, err, c.want)
			}
			got, err := w.Instance(ctx, instanceID(0))
			if err != nil || got.Record != nil || got.Attempts[0].State != "started" {
				t.Errorf("instance is %+v, %v", got, err)
			}
			if _, err := w.Blob(ctx, digest.Sum([]byte("transcript of"))); err == nil {
				t.Error("a blob of the commit stayed")
			}
		})
	}
}

func TestAJudgeInputIsRecordedOnceAndUnderItsOwnHash(t *testing.T) {
	w, _ := newRun(t, 1)
	a, err := w.BeginAttempt(t.Context(), instanceID(0), instant)
	if err != nil {
		t.Fatal(err)
	}
	input := []byte("what the judge will see")
	wantError(t, a.PutJudgeInput(digest.Sum([]byte("else")), input), ErrNotScorable)
	for range 2 {
		if err := a.PutJudgeInput(digest.Sum(input), input); err != nil {
			t.Fatal(err)
		}
	}
	other := []byte("what it would like to see")
	wantError(t, a.PutJudgeInput(digest.Sum(other), other), ErrNotScorable)

	got, err := w.Instance(t.Context(), instanceID(0))
	if err != nil || got.Attempts[0].JudgeInput != digest.Sum(input) {
		t.Errorf("instance is %+v, %v", got, err)
	}
}

func TestABlobIsKeptOnceAndReadBounded(t *testing.T) {
	ctx := t.Context()
	w, _ := newRun(t, 1)
	content := make([]byte, 1<<20)
	hash, err := w.PutBlob(ctx, content)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.PutBlob(ctx, content); err != nil || again != hash {
		t.Errorf("the second time it is %s, %v", again, err)
	}
	if got, err := w.Blob(ctx, hash); err != nil || len(got) != len(content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err = w.Blob(ctx, digest.Sum([]byte("nobody put this")))
	wantError(t, err, ErrNoBlob)

	// A bomb: more comes out than the row states.
	if _, err := w.writes.ExecContext(ctx, "UPDATE blob SET size = 1000"); err != nil {
		t.Fatal(err)
	}
	_, err = w.Blob(ctx, hash)
	wantError(t, err, ErrDamaged)
	if _, err := w.writes.ExecContext(ctx, "UPDATE blob SET size = 1 << 50"); err != nil {
		t.Fatal(err)
	}
	_, err = w.Blob(ctx, hash)
	wantError(t, err, ErrDamaged)
}
