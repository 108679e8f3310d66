package mutation

import (
	"path/filepath"
	"time"

	"litmus/internal/strictyaml"
)

// This file has the readings of a YAML value that only make sense in a suite.

// suitePath reads the name of a file inside the suite; it may be absent.
func suitePath(n strictyaml.Node) string {
	name := n.Text()
	if name != "" && !filepath.IsLocal(name) {
		n.Fault("name a file inside the suite, relative to suite.yaml", "%q lies outside of the suite", name)
	}
	return name
}

// plainText reads one line of text.
func plainText(n strictyaml.Node) string {
	text := n.Text()
	if err := checkPlain(text); err != nil && text != "" {
		n.Fault("", "%v", err)
	}
	return text
}

func sizeOr(n strictyaml.Node, absent Size) Size {
	if n.Absent() {
		return absent
	}
	size, err := parseSize(n.QuietText())
	if err != nil || size == 0 {
		n.Fault("write a whole number and a unit, as in 512MiB; units are B, KiB, MiB and GiB", "this must be a size above 0")
	}
	return size
}

func durationOr(n strictyaml.Node, absent Duration) Duration {
	if n.Absent() {
		return absent
	}
	d, err := time.ParseDuration(n.QuietText())
	if err != nil || d < time.Second || d > 24*time.Hour {
		n.Fault("write a number and a unit, as in 120s or 10m", "this must be a duration of one second to 24 hours")
	}
	return Duration(d)
}

func countOr(n strictyaml.Node, absent, most int64) int64 {
	if n.Absent() {
		return absent
	}
	count := n.Integer()
	if count < 1 || count > most {
		n.Fault("", "this must be a whole number from 1 to %d", most)
	}
	return count
}
