package mutation

import (
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// This file has the readings of a YAML value that only make sense in a suite.

// path reads the name of a file inside the suite; it may be absent.
func (n yamlNode) path() string {
	name := n.text()
	if name != "" && !filepath.IsLocal(name) {
		n.fault("name a file inside the suite, relative to suite.yaml", "%q lies outside of the suite", name)
	}
	return name
}

// plainText reads one line of text.
func (n yamlNode) plainText() string {
	text := n.text()
	if err := checkPlain(text); err != nil && text != "" {
		n.fault("", "%v", err)
	}
	return text
}

// quietText is the text of n, or nothing where n is no text.
func (n yamlNode) quietText() string {
	if text, ok := n.value.(*ast.StringNode); ok {
		return text.Value
	}
	return ""
}

func (n yamlNode) sizeOr(absent Size) Size {
	if n.absent() {
		return absent
	}
	size, err := parseSize(n.quietText())
	if err != nil || size == 0 {
		n.fault("write a whole number and a unit, as in 512MiB; units are B, KiB, MiB and GiB", "this must be a size above 0")
	}
	return size
}

func (n yamlNode) durationOr(absent Duration) Duration {
	if n.absent() {
		return absent
	}
	d, err := time.ParseDuration(n.quietText())
	if err != nil || d < time.Second || d > 24*time.Hour {
		n.fault("write a number and a unit, as in 120s or 10m", "this must be a duration of one second to 24 hours")
	}
	return Duration(d)
}

func (n yamlNode) countOr(absent, most int64) int64 {
	if n.absent() {
		return absent
	}
	count := n.integer()
	if count < 1 || count > most {
		n.fault("", "this must be a whole number from 1 to %d", most)
	}
	return count
}

// scalar reads text, or a whole number as it is written.
func (n yamlNode) scalar() string {
	if number, ok := n.value.(*ast.IntegerNode); ok {
		return number.GetToken().Value
	}
	return n.plainText()
}
