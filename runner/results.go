package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"litmus/internal/canon"
	"litmus/internal/digest"
	"litmus/mutation"
	"litmus/runner/runfile"
)

// Filter narrows a listing; an empty field lets everything through.
type Filter struct {
	Disposition, Label string
}

// Row is one instance of a run, as it is listed.
type Row struct {
	Ordinal       int64  `json:"ordinal"`
	Instance      string `json:"instance"`
	Case          string `json:"case"`
	Chain         string `json:"chain"`
	Seed          int64  `json:"seed"`
	Category      string `json:"category"`
	Ambiguous     bool   `json:"ambiguous"`
	Disposition   string `json:"disposition"`
	Reason        string `json:"reason,omitempty"`
	Label         string `json:"label,omitempty"`
	Class         string `json:"class,omitempty"`
	Semantic      string `json:"said,omitempty"`
	Physical      string `json:"did,omitempty"`
	Hallucination string `json:"hallucination,omitempty"`
}

// List calls yield for each instance that has a record, in the order of the
// manifest, holding one at a time.
func List(ctx context.Context, path string, filter Filter, yield func(Row) error) error {
	if d := runfile.Disposition(filter.Disposition); d != "" && !slices.Contains(runfile.Dispositions(), d) {
		return badInput(fmt.Sprintf("dispositions: %v", runfile.Dispositions()), "no disposition is called %q", d)
	}
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return classify(err)
	}
	defer f.Close()
	return rows(ctx, f, filter, yield)
}

func rows(ctx context.Context, f *runfile.File, filter Filter, yield func(Row) error) error {
	only := runfile.Filter{Disposition: runfile.Disposition(filter.Disposition), Label: filter.Label}
	for r, err := range f.Records(ctx, only, runfile.Page{After: runfile.FirstPage}) {
		if err != nil {
			return classify(err)
		}
		line, err := f.ManifestLine(ctx, r.Record.Instance)
		if err != nil {
			return classify(err)
		}
		in, err := mutation.ParseInstance(line)
		if err != nil {
			return classify(err)
		}
		if err := yield(rowOf(r, in)); err != nil {
			return err
		}
	}
	return nil
}

func rowOf(r runfile.Row, in mutation.Instance) Row {
	row := Row{
		Ordinal: r.Ordinal, Instance: in.ID.String(), Case: in.ID.Case, Chain: in.ID.Chain, Seed: in.ID.Seed,
		Category: in.Category, Ambiguous: in.Ambiguous,
		Disposition: string(r.Record.Disposition), Reason: r.Record.Reason,
	}
	if v := r.Record.Verdict; v != nil {
		row.Label, row.Class, row.Semantic, row.Physical, row.Hallucination = v.Label, v.Class, v.Semantic, v.Physical, v.Hallucination
	}
	return row
}

// Counts is a run in numbers. Total is the number of the manifest's instances,
// whatever became of them.
type Counts struct {
	Total        int              `json:"total"`
	Dispositions map[string]int   `json:"dispositions"`
	Labels       map[string]int   `json:"labels"`
	Categories   []CategoryCounts `json:"categories"`
	// Hallucinations counts the instances where what the agent said and what
	// happened contradict each other, by kind.
	Hallucinations map[string]int `json:"hallucinations"`
}

// CategoryCounts are the scored instances of one category, by class.
type CategoryCounts struct {
	Name   string `json:"name"`
	Total  int    `json:"total"`
	Scored int    `json:"scored"`
	Safe   int    `json:"safe"`
	Unsafe int    `json:"unsafe"`
	Gap    int    `json:"gap"`
}

func countFile(ctx context.Context, path string) (Counts, error) {
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return Counts{}, err
	}
	defer f.Close()
	return count(ctx, f)
}

func count(ctx context.Context, f *runfile.File) (Counts, error) {
	c := Counts{Total: int(f.Instances), Dispositions: map[string]int{}, Labels: map[string]int{}, Hallucinations: map[string]int{}, Categories: []CategoryCounts{}}
	index := map[string]int{}
	err := rows(ctx, f, Filter{}, func(r Row) error {
		c.Dispositions[r.Disposition]++
		i, ok := index[r.Category]
		if !ok {
			i = len(c.Categories)
			index[r.Category] = i
			c.Categories = append(c.Categories, CategoryCounts{Name: r.Category})
		}
		c.Categories[i].Total++
		if r.Hallucination != "" {
			c.Hallucinations[r.Hallucination]++
		}
		if r.Disposition != string(runfile.Scored) {
			return nil
		}
		c.Labels[r.Label]++
		c.Categories[i].add(r.Class)
		return nil
	})
	return c, err
}

func (c *CategoryCounts) add(class string) {
	c.Scored++
	switch class {
	case "SAFE":
		c.Safe++
	case "UNSAFE":
		c.Unsafe++
	default:
		c.Gap++
	}
}

// Summary is a run file as a whole.
type Summary struct {
	Path     string `json:"path"`
	Name     string `json:"name"`
	Manifest string `json:"manifest"`
	// Sealed is false for a run that was interrupted; Root is empty then.
	Sealed     bool            `json:"sealed"`
	Root       string          `json:"root,omitempty"`
	Model      string          `json:"model"`
	Simulated  bool            `json:"simulated"`
	Instrument json.RawMessage `json:"instrument"`
	Subject    json.RawMessage `json:"subject"`
	Facts      json.RawMessage `json:"facts,omitempty"`
	Counts     Counts          `json:"counts"`
}

// Summarize reads the run file at path, sealed or not.
func Summarize(ctx context.Context, path string) (Summary, error) {
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return Summary{}, classify(err)
	}
	defer f.Close()
	header, err := headerOf(ctx, f)
	if err != nil {
		return Summary{}, err
	}
	s := Summary{Path: path, Name: header.Name, Manifest: f.ManifestID.String(), Model: header.Subject.Model, Simulated: isSimulated(header.Subject.Model), Facts: f.Facts}
	if s.Instrument, err = canon.Marshal(header.Instrument); err != nil {
		return Summary{}, err
	}
	if s.Subject, err = canon.Marshal(header.Subject); err != nil {
		return Summary{}, err
	}
	seal, err := f.SealInfo(ctx)
	if err == nil {
		s.Sealed, s.Root = true, seal.Root.String()
	} else if !errors.Is(err, runfile.ErrUnsealed) {
		return Summary{}, classify(err)
	}
	s.Counts, err = count(ctx, f)
	return s, err
}

func headerOf(ctx context.Context, f *runfile.File) (mutation.Header, error) {
	m, err := mutation.NewReader(f.Manifest(ctx))
	if err != nil {
		return mutation.Header{}, classify(fmt.Errorf("manifest in the run file: %w", err))
	}
	return m.Header, nil
}

// Detail is all that a run file holds on one instance.
type Detail struct {
	Row      Row             `json:"row"`
	Manifest json.RawMessage `json:"manifest"`
	Record   json.RawMessage `json:"record,omitempty"`
	Evidence json.RawMessage `json:"evidence,omitempty"`
	// JudgeInput is the document that the judge read.
	JudgeInput json.RawMessage `json:"judge_input,omitempty"`
	Attempts   []AttemptDetail `json:"attempts"`
	Stdout     []byte          `json:"stdout,omitempty"`
	Stderr     []byte          `json:"stderr,omitempty"`
}

// AttemptDetail is one attempt with its exchanges, in order.
type AttemptDetail struct {
	N         int              `json:"n"`
	State     string           `json:"state"`
	Cause     string           `json:"cause,omitempty"`
	Won       bool             `json:"won"`
	Started   time.Time        `json:"started"`
	Finished  time.Time        `json:"finished,omitzero"`
	Facts     json.RawMessage  `json:"facts,omitempty"`
	Exchanges []ExchangeDetail `json:"exchanges"`
}

// ExchangeDetail is one exchange with the model: the bytes that the agent sent,
// those that the model got, and those that came back.
type ExchangeDetail struct {
	Seq       int             `json:"seq"`
	Meta      json.RawMessage `json:"meta"`
	Request   []byte          `json:"request"`
	Effective []byte          `json:"effective"`
	Response  []byte          `json:"response"`
}

// Inspect reads everything on one instance. The id is taken as it is: no prefix,
// no pattern.
func Inspect(ctx context.Context, path, instance string) (Detail, error) {
	f, err := runfile.Open(ctx, path)
	if err != nil {
		return Detail{}, classify(err)
	}
	defer f.Close()
	in, err := f.Instance(ctx, instance)
	if err != nil {
		return Detail{}, classify(err)
	}
	d := Detail{Attempts: []AttemptDetail{}}
	line, err := f.ManifestLine(ctx, instance)
	if err != nil {
		return Detail{}, classify(err)
	}
	d.Manifest = line
	parsed, err := mutation.ParseInstance(line)
	if err != nil {
		return Detail{}, classify(err)
	}
	d.Row = rowOf(runfile.Row{Ordinal: in.Ordinal, Record: recordOrNone(in)}, parsed)
	if err := d.addRecord(ctx, f, in.Record); err != nil {
		return Detail{}, classify(err)
	}
	for _, a := range in.Attempts {
		attempt, err := attemptDetail(ctx, f, a)
		if err != nil {
			return Detail{}, classify(err)
		}
		d.Attempts = append(d.Attempts, attempt)
	}
	return d, nil
}

func recordOrNone(in runfile.Instance) runfile.Record {
	if in.Record == nil {
		return runfile.Record{Instance: in.ID}
	}
	return *in.Record
}

func (d *Detail) addRecord(ctx context.Context, f *runfile.File, r *runfile.Record) error {
	if r == nil {
		return nil
	}
	var err error
	if d.Record, err = r.Canonical(); err != nil {
		return err
	}
	if d.Evidence, err = blob(ctx, f, r.Evidence); err != nil {
		return err
	}
	if d.JudgeInput, err = blob(ctx, f, r.JudgeInput); err != nil {
		return err
	}
	if r.Stdout != nil {
		if d.Stdout, err = blob(ctx, f, r.Stdout.Kept()); err != nil {
			return err
		}
	}
	if r.Stderr != nil {
		d.Stderr, err = blob(ctx, f, r.Stderr.Kept())
	}
	return err
}

// blob is what a record names, nil where it names nothing.
func blob(ctx context.Context, f *runfile.File, hash digest.Hash) ([]byte, error) {
	if hash.IsZero() {
		return nil, nil
	}
	return f.Blob(ctx, hash)
}

func attemptDetail(ctx context.Context, f *runfile.File, a runfile.AttemptInfo) (AttemptDetail, error) {
	d := AttemptDetail{N: a.N, State: a.State, Cause: a.Cause, Won: a.Won, Started: a.Started, Finished: a.Finished, Facts: a.Facts, Exchanges: []ExchangeDetail{}}
	for e, err := range f.Exchanges(ctx, a.ID) {
		if err != nil {
			return d, err
		}
		d.Exchanges = append(d.Exchanges, ExchangeDetail{e.Seq, e.Meta, e.Request, e.Effective, e.Response})
	}
	return d, nil
}
