package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"litmus/internal/treehash"
	"litmus/internal/wire"
)

// What a box says of itself, equal in all of them.
const (
	hostname  = "box"
	machineID = "6c69746d75730000000000000000b0c5" // "litmus" and a box
	homeDir   = "/root"
)

// pinnedTime is the time of change of everything that is staged, so that a
// listing of it reads the same every time.
var pinnedTime = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// skeletonFiles replace what the image has: the identity of the box.
func skeletonFiles(listeners []wire.Listener) []File {
	file := func(name, content string) File {
		return File{Path: name, Type: treehash.File, Mode: 0o644, Content: []byte(content)}
	}
	return []File{
		file("/etc/hostname", hostname+"\n"),
		file("/etc/hosts", hostsFile(listeners)),
		file("/etc/machine-id", machineID+"\n"),
		file("/etc/resolv.conf", ""),
	}
}

// skeletonDirs are made only where the image lacks them: places for mounts, and
// what every program may count on.
func skeletonDirs(workdir string) []File {
	dir := func(name string, mode fs.FileMode) File {
		return File{Path: name, Type: treehash.Dir, Mode: mode}
	}
	return []File{
		dir("/proc", 0o555),
		dir("/sys", 0o555),
		dir("/dev", 0o755),
		dir("/etc", 0o755),
		dir("/tmp", 0o777|fs.ModeSticky),
		dir(homeDir, 0o700),
		dir(workdir, 0o755),
	}
}

// buildSkeleton writes what is no fixture but must be there before anything is
// mounted: nothing may be written to the writable layer on the box's behalf.
func buildSkeleton(ctx context.Context, root *os.File, workdir string, listeners []wire.Listener) error {
	for _, d := range skeletonDirs(workdir) {
		dir, err := openDirInRoot(root, d.Path)
		if err == nil {
			dir.Close()
			continue
		}
		if !errors.Is(err, unix.ENOENT) {
			return &StageError{d.Path, err}
		}
		if err := place(root, d); err != nil {
			return &StageError{d.Path, err}
		}
	}
	return stage(ctx, root, skeletonFiles(listeners))
}

// mapListeners gives each name an address of its own on the loopback network,
// so that two names can have the same port. The order of names decides.
func mapListeners(endpoints []Endpoint) ([]wire.Listener, error) {
	names := make([]string, 0, len(endpoints))
	for _, e := range endpoints {
		if _, err := netip.ParseAddr(e.Host); err != nil {
			names = append(names, e.Host)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	listeners := make([]wire.Listener, 0, len(endpoints))
	for _, e := range endpoints {
		address, err := addressOf(e.Host, names)
		if err != nil {
			return nil, &SpecError{Field: "listeners", Err: err}
		}
		if e.Port < 1 || e.Port > 65535 {
			return nil, &SpecError{Field: "listeners", Err: fmt.Errorf("%d is no port", e.Port)}
		}
		listeners = append(listeners, wire.Listener{Host: e.Host, Address: address, Port: e.Port})
	}
	return listeners, checkListeners(listeners)
}

// checkListeners refuses two listeners at one address.
func checkListeners(listeners []wire.Listener) error {
	taken := map[string]bool{wire.GatewayAddress: true}
	for _, l := range listeners {
		address := net.JoinHostPort(l.Address, strconv.Itoa(l.Port))
		if taken[address] {
			return &SpecError{Field: "listeners", Err: fmt.Errorf("%s port %d: %s is taken", l.Host, l.Port, address)}
		}
		taken[address] = true
	}
	return nil
}

// addressOf is the loopback address of a host. Names start at 127.0.1.1.
func addressOf(host string, names []string) (string, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		if !address.IsLoopback() {
			return "", fmt.Errorf("%s is not a loopback address: the box has no other network", host)
		}
		return host, nil
	}
	if host == "localhost" {
		return "127.0.0.1", nil
	}
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '#' || r > '~' }) {
		return "", fmt.Errorf("%q is no host name", host)
	}
	i, _ := slices.BinarySearch(names, host)
	if i >= 250*250 {
		return "", errors.New("too many host names")
	}
	return netip.AddrFrom4([4]byte{127, 0, byte(1 + i/250), byte(1 + i%250)}).String(), nil
}

func hostsFile(listeners []wire.Listener) string {
	lines := []string{"127.0.0.1\tlocalhost " + hostname, "::1\tlocalhost"}
	for _, l := range listeners {
		if l.Host != l.Address && l.Host != "localhost" {
			lines = append(lines, l.Address+"\t"+l.Host)
		}
	}
	slices.Sort(lines[2:])
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// pinTimes gives everything in a tree the pinned time of change. The tree is
// mounted nowhere else, so that no layer of it sees old times.
func pinTimes(ctx context.Context, dir string) (err error) {
	cursor, err := treehash.OpenCursor(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	stamp := unix.NsecToTimespec(pinnedTime.UnixNano())
	return treehash.Walk(ctx, cursor, func(_ int, name string, n *treehash.Node) error {
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, n.ProcPath(), []unix.Timespec{stamp, stamp}, 0); err != nil {
			return fmt.Errorf("pinning the time of %q: %w", name, err)
		}
		return nil
	})
}
