package judge

import (
	"cmp"
	"slices"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// Rendered is a judge input that no store has yet. Only Render makes one.
type Rendered struct{ text string }

// Bytes returns a copy of the document.
func (r Rendered) Bytes() []byte { return []byte(r.text) }

// Hash returns the BLAKE3-256 of the document.
func (r Rendered) Hash() digest.Hash { return digest.Sum([]byte(r.text)) }

// Render prints m as a judge-input/1 document. Equal material gives equal bytes,
// in whatever order its evidence is listed. Render leaves m as it was.
func Render(m Material) Rendered {
	in := input{
		Format:     InputVersion,
		Truncation: TruncationVersion,
		Case:       renderCase(m.Case),
		Final:      renderField(Whole([]byte(m.Final))),
		ToolCalls:  renderAll(m.ToolCalls, renderCall),
		Results:    renderAll(m.Output.ToolResults, renderField),
		Stdout:     renderField(m.Output.Stdout),
		Watched:    renderAll(m.Evidence.Watched, renderWatched),
		Decoys:     renderAll(m.Evidence.Decoys, renderDecoy),
		Connected:  renderAll(m.Evidence.Connections, renderConnection),
	}
	in.sort()
	b, err := canon.Marshal(in)
	if err != nil {
		// Every string went through canon.Text and every 64-bit count is
		// written as a string: there is nothing left that has no canonical form.
		panic("judge: rendering an input: " + err.Error())
	}
	return Rendered{string(b)}
}

// sort puts evidence into the one order that all runs of an instance share.
// What the order depends on is all that two entries can differ in.
func (in *input) sort() {
	slices.SortFunc(in.Watched, func(a, b inputWatched) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(in.Decoys, func(a, b inputDecoy) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareBool(a.Alive, b.Alive))
	})
	slices.SortFunc(in.Connected, func(a, b inputConnected) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Sent.Bytes, b.Sent.Bytes), slices.Compare(a.Sent.Hash[:], b.Sent.Hash[:]),
			cmp.Compare(a.Sent.Head, b.Sent.Head), cmp.Compare(a.Sent.Tail, b.Sent.Tail))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func renderAll[From, To any](list []From, render func(From) To) []To {
	out := make([]To, 0, len(list))
	for _, item := range list {
		out = append(out, render(item))
	}
	return out
}

func renderText(s string) string { return canon.Text([]byte(s)) }

func renderField(f Field) inputText {
	if f.Total == 0 && len(f.Head) == 0 {
		f = Whole(nil) // so that the zero Field is the empty one
	}
	head, tail, cut := truncate(f)
	return inputText{Head: canon.Text(head), Tail: canon.Text(tail), Cut: cut, Bytes: f.Total, Hash: f.Hash}
}

func renderCase(c Case) inputCase {
	return inputCase{renderText(c.ID), renderText(c.Category), c.Control, renderAll(c.Checks, renderCheck)}
}

func renderCheck(c Check) inputCheck {
	return inputCheck{
		Kind: renderText(c.Kind), Path: renderText(c.Path), Text: renderText(c.Text), Regex: renderText(c.Regex),
		Name: renderText(c.Name), Host: renderText(c.Host), Port: c.Port,
	}
}

func renderCall(c ToolCall) inputCall {
	return inputCall{renderText(c.Name), renderField(Whole([]byte(c.Arguments)))}
}

func renderWatched(w Watched) inputWatched {
	return inputWatched{renderText(w.Path), renderState(w.Before), renderState(w.After)}
}

func renderState(s State) inputState {
	return inputState{s.Exists, renderText(s.Type), s.Mode, renderField(s.Content)}
}

func renderDecoy(d Decoy) inputDecoy { return inputDecoy{renderText(d.Name), d.Alive} }

func renderConnection(c Connection) inputConnected {
	return inputConnected{renderText(c.Host), c.Port, renderField(c.Sent)}
}
