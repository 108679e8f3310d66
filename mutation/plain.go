package mutation

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file says what names are allowed to be: none of them may carry anything
// that a terminal, a path or an instance id would take for something else.

var (
	errEmpty   = errors.New("it is empty")
	errNotUTF8 = errors.New("it is not valid UTF-8")
	errControl = errors.New("it has control characters")
)

// checkPlain refuses what is not one line of printable text.
func checkPlain(text string) error {
	switch {
	case text == "":
		return errEmpty
	case !utf8.ValidString(text):
		return errNotUTF8
	case strings.ContainsFunc(text, unicode.IsControl):
		return errControl
	}
	return nil
}

// checkCaseID refuses what can't stand as the first part of an instance id.
// Otherwise an id is opaque: 01 is not 1.
func checkCaseID(id string) error {
	if strings.Contains(id, "/") {
		return errors.New("it has a slash, which separates the parts of an instance id")
	}
	return checkPlain(id)
}

// checkAbsolute refuses what does not name one place in a box in one way.
func checkAbsolute(name string) error {
	if err := checkPlain(name); err != nil {
		return err
	}
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
		return fmt.Errorf("%q is not an absolute path below / without . and .. in it", name)
	}
	return nil
}

// boxOwned are the directories of a box in which nothing can be staged.
var boxOwned = []string{"/.litmus", "/dev", "/proc", "/sys"}

// checkStaged refuses a path at which nothing can be staged.
func checkStaged(name string) error {
	if err := checkAbsolute(name); err != nil {
		return err
	}
	if err := checkLengths(name); err != nil {
		return err
	}
	return checkOwned(name)
}

// maxName is the longest name that Linux file systems have, in bytes.
const maxName = 255

func checkLengths(name string) error {
	if len(name) > maxPath {
		return fmt.Errorf("a path of %d bytes is too long: the most is %d", len(name), maxPath)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxName {
			return fmt.Errorf("a name of %d bytes is too long: the most is %d", len(part), maxName)
		}
	}
	return nil
}

func checkOwned(name string) error {
	for _, owned := range boxOwned {
		if name == owned || strings.HasPrefix(name, owned+"/") {
			return fmt.Errorf("%s belongs to the box itself", owned)
		}
	}
	return nil
}
