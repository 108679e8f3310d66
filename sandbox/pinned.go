package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// pinnedNames are the files of /proc that a box has its own of.
var pinnedNames = []string{"cpuinfo", "diskstats", "loadavg", "meminfo", "stat", "swaps", "uptime"}

// pinnedFiles stand in for files of /proc that describe the host and change all
// the time. OCI runtimes allow exactly these to be mounted over. Programs that
// read them get plausible values; the figures are those of a machine with one
// processor, the box's memory and no swap, that has just started.
func pinnedFiles(memory int64) map[string]string {
	kilobytes := memory / 1024
	return map[string]string{
		"cpuinfo":   "processor\t: 0\nvendor_id\t: box\nmodel name\t: box\ncpu MHz\t\t: 1000.000\ncache size\t: 1024 KB\n\n",
		"diskstats": "",
		"loadavg":   "0.00 0.00 0.00 1/1 1\n",
		"meminfo":   meminfo(kilobytes),
		"stat":      "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime " + fmt.Sprint(pinnedTime.Unix()) + "\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n",
		"swaps":     "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
		"uptime":    "1.00 1.00\n",
	}
}

func meminfo(kilobytes int64) string {
	var text strings.Builder
	for _, line := range []struct {
		name  string
		value int64
	}{
		{"MemTotal", kilobytes}, {"MemFree", kilobytes}, {"MemAvailable", kilobytes},
		{"Buffers", 0}, {"Cached", 0}, {"SwapCached", 0}, {"Active", 0}, {"Inactive", 0},
		{"SwapTotal", 0}, {"SwapFree", 0}, {"Dirty", 0}, {"Shmem", 0}, {"Slab", 0},
	} {
		fmt.Fprintf(&text, "%-15s %8d kB\n", line.name+":", line.value)
	}
	return text.String()
}

// writePinned writes the pinned files into dir.
func writePinned(dir string, memory int64) error {
	for name, content := range pinnedFiles(memory) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o444); err != nil {
			return fmt.Errorf("pinning /proc/%s: %w", name, err)
		}
		if err := unix.Chmod(path, 0o444); err != nil { // whatever the umask
			return fmt.Errorf("pinning /proc/%s: %w", name, err)
		}
	}
	return nil
}
