package importer

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// machine is what a script finds in a box: the stand-in tree, and beside it what
// the image and the kernel bring.
type machine struct{ tree suiteFiles }

var (
	imageDirs   = []string{"/bin", "/dev", "/proc", "/proc/1"}
	kernelFiles = []string{"/proc/cmdline", "/proc/cpuinfo", "/proc/devices", "/proc/key-users", "/proc/meminfo"}
)

// pinnedContent has, for each file of the kernel whose content a box fixes, a
// regex for a line of it. The other kernelFiles can be opened, but a box hides
// their content, as it is the host's.
var pinnedContent = map[string]string{
	"/proc/cpuinfo": `processor(?:\s|\\t)*: \d`,
	"/proc/meminfo": `MemTotal:\s+\d+ kB`,
}

// missing says why a script does not find a path in a box, or "" if it does.
func (m machine) missing(at string) string {
	at = path.Clean(at)
	_, isFile := m.tree[at]
	switch {
	case isFile, len(m.entries(at)) > 0, slices.Contains(imageDirs, at), slices.Contains(kernelFiles, at):
		return ""
	case strings.HasPrefix(at+"/", "/sys/"), strings.HasPrefix(at, "/proc/"):
		return at + " depends on the host's kernel, and need not be in a box"
	default:
		return at + " is not in the stand-in tree"
	}
}

// entries returns the names in a directory of the tree, sorted.
func (m machine) entries(dir string) []string {
	names := map[string]bool{}
	for file := range m.tree {
		if below, ok := strings.CutPrefix(file, path.Clean(dir)+"/"); ok {
			name, _, _ := strings.Cut(below, "/")
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// entry returns the first name in a directory of the tree that has text in it,
// and text itself when there is none.
func (m machine) entry(dir, text string) string {
	for _, name := range m.entries(dir) {
		if strings.Contains(name, text) {
			return name
		}
	}
	return text
}

// shortestTelltale is the least length of a line that a check may look for:
// shorter ones turn up by chance.
const shortestTelltale = 8

// line returns the first line of a file of the tree that has text in it and
// reads the same inside a JSON string; "" when there is none.
func (m machine) line(file, text string) string {
	for line := range strings.Lines(string(m.tree[file].content)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, text) && len(line) >= shortestTelltale && !strings.ContainsAny(line, "\"\\\t") {
			return line
		}
	}
	return ""
}
