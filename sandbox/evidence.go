package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"litmus/internal/digest"
	"litmus/internal/treehash"
	"litmus/internal/wire"
)

// collect finds what is left to find when the box is dead and hashed.
func (b *box) collect(ctx context.Context) (string, error) {
	evidence := &b.outcome.Evidence
	for _, name := range b.spec.Watch {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		w := Watched{Path: name}
		var err error
		if w.Before, err = stateIn(b.layout.path("before"), name); err != nil {
			return "", fmt.Errorf("reading %s as it was: %w", name, err)
		}
		if w.After, err = stateIn(b.layout.rootfs(), name); err != nil {
			return "", fmt.Errorf("reading %s: %w", name, err)
		}
		evidence.Watched = append(evidence.Watched, w)
	}
	evidence.Connections, evidence.ConnectionsTotal = b.seen.sorted(), b.seen.total
	return fmt.Sprintf("%d paths, %d decoys, %d connections", len(evidence.Watched), len(evidence.Decoys), evidence.ConnectionsTotal), nil
}

// stateIn describes what a path names in a root file system of which nothing is alive.
func stateIn(root, name string) (State, error) {
	var s State
	err := inDir(root, func(root *os.File) error {
		_, err := lookInRoot(root, name, func(_ *treehash.Cursor, n *treehash.Node) (err error) {
			s = State{Exists: true, Type: n.Type, Mode: n.Mode}
			switch n.Type {
			case treehash.File:
				s.Size = n.Size
				s.Hash, s.Head, err = n.Head(MaxHead)
			case treehash.Symlink:
				s.Size, s.Hash, s.Head = n.Size, digest.Sum([]byte(n.Target)), []byte(n.Target)
			}
			return err
		})
		return err
	})
	return s, err
}

// findDecoys finds the processes that litmus-init has started as decoys, by
// their ids in the box.
func (b *box) findDecoys(ids []int) error {
	if len(ids) != len(b.spec.Decoys) {
		return fmt.Errorf("litmus-init names %d decoys of %d", len(ids), len(b.spec.Decoys))
	}
	if len(ids) == 0 {
		return nil
	}
	pids, err := b.cgroups.processes()
	if err != nil {
		return err
	}
	running, err := readProcesses(pids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		at := slices.IndexFunc(running, func(p process) bool { return p.boxPID == id && p.alive() })
		if at < 0 {
			return fmt.Errorf("decoy %q is not there at its start", b.spec.Decoys[i].Name)
		}
		b.decoys = append(b.decoys, running[at])
	}
	return nil
}

// noteProcesses takes down what was alive when the box was frozen.
func (b *box) noteProcesses(found []process) {
	alive := slices.DeleteFunc(found, func(p process) bool { return !p.alive() })
	for i, d := range b.decoys {
		b.outcome.Evidence.Decoys = append(b.outcome.Evidence.Decoys, DecoyState{
			Name:  b.spec.Decoys[i].Name,
			Alive: slices.ContainsFunc(alive, d.is),
		})
	}
	for _, p := range alive[:min(len(alive), MaxProcesses)] {
		b.outcome.Facts.Processes = append(b.outcome.Facts.Processes, p.describe())
	}
}

// connections collects what the recorders in the box report, in any order.
type connections struct {
	list  []Connection
	total int
}

func (c *connections) add(event wire.Connection) error {
	hash, err := digest.Parse(event.Hash)
	if err != nil {
		return fmt.Errorf("understanding litmus-init: %w", err)
	}
	c.total++
	c.list = append(c.list, Connection{Host: event.Host, Port: event.Port, Bytes: event.Bytes, Hash: hash, Head: event.Head})
	if len(c.list) == 2*MaxConnections {
		c.list = slices.Clone(c.sorted())
	}
	return nil
}

// sorted is in an order that does not depend on when they came, nor do those
// that are left out.
func (c *connections) sorted() []Connection {
	slices.SortFunc(c.list, func(a, b Connection) int {
		return cmp.Or(
			strings.Compare(a.Host, b.Host),
			cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Bytes, b.Bytes),
			bytes.Compare(a.Hash[:], b.Hash[:]),
			bytes.Compare(a.Head, b.Head))
	})
	return c.list[:min(len(c.list), MaxConnections)]
}

// facts are what is known of the machine.
func (e *Engine) facts(id string) Facts {
	var name unix.Utsname
	// Fails only for a bad pointer.
	_ = unix.Uname(&name)
	return Facts{BoxID: id, Kernel: unix.ByteSliceToString(name.Release[:]), Runtime: filepath.Base(e.runtime)}
}

// ignoreEnd takes an end of file for what it is.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
