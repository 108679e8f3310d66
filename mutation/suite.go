package mutation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"litmus/internal/inputerror"
	"litmus/internal/strictyaml"
)

const (
	suiteFile = "suite.yaml"
	// maxText bounds each text of a suite as it is read, in bytes; what is YAML has
	// a tighter bound in strictyaml.
	maxText = 16 << 20
)

// Suite is a suite that has been read as a whole: nothing of it is looked up later.
type Suite struct {
	Dir    string
	Config Config
	// Cases are in the order of Config.Cases and of the lines in each.
	Cases  []Case
	Chains []Chain
	// Fixtures are all trees, by name.
	Fixtures      map[string]Tree
	Rubric        []byte
	RubricVersion string
	SystemPrompt  string
}

// Load reads the suite in a directory. What is wrong with it is an *inputerror.Error.
// No file outside of dir is read, whatever links there are.
func Load(dir string) (*Suite, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open suite: %w", err)
	}
	defer root.Close()
	l := loader{dir, root}
	text, err := l.text(suiteFile)
	if err != nil {
		return nil, err
	}
	s := &Suite{Dir: dir}
	if s.Config, err = parseConfig(l.path(suiteFile), text); err != nil {
		return nil, err
	}
	s.Chains = resolveChains(s.Config.Chains)
	if s.Rubric, err = l.text(s.Config.Rubric); err != nil {
		return nil, err
	}
	if s.RubricVersion, err = rubricVersion(s.RubricFile(), s.Rubric); err != nil {
		return nil, err
	}
	if name := s.Config.Subject.SystemPrompt; name != "" {
		prompt, err := l.text(name)
		if err != nil {
			return nil, err
		}
		s.SystemPrompt = string(prompt)
	}
	if s.Config.Fixtures != "" {
		if s.Fixtures, err = readTrees(dir, s.Config.Fixtures); err != nil {
			return nil, err
		}
	}
	s.Cases, err = l.cases(s.Config.Cases, s.Fixtures)
	return s, err
}

// RubricFile is the path of the rubric, for errors.
func (s *Suite) RubricFile() string { return filepath.Join(s.Dir, s.Config.Rubric) }

// loader opens the files of one suite.
type loader struct {
	dir  string
	root *os.Root
}

func (l loader) path(name string) string { return filepath.Join(l.dir, name) }

func (l loader) open(name string) (*os.File, error) {
	// O_NONBLOCK: opening a FIFO would wait for its writer.
	f, err := l.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &inputerror.Error{File: l.path(name), Msg: "there is no such file", Fix: "create it, or correct its name in " + suiteFile}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", l.path(name), err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &inputerror.Error{File: l.path(name), Msg: "it is not a file"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// text returns a whole file of UTF-8 without its byte order mark.
func (l loader) text(name string) ([]byte, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.path(name), err)
	}
	if len(text) > maxText {
		return nil, &inputerror.Error{File: l.path(name), Msg: fmt.Sprintf("it is larger than %d bytes", maxText)}
	}
	if !utf8.Valid(text) {
		return nil, &inputerror.Error{File: l.path(name), Line: lineOfBadUTF8(text), Msg: "it is not valid UTF-8", Fix: "save the file as UTF-8"}
	}
	return bytes.TrimPrefix(text, byteOrderMark), nil
}

func lineOfBadUTF8(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			return line
		case r == '\n':
			line++
		}
		text = text[size:]
	}
	return line
}

// cases reads all case files and looks whether each case can be staged.
func (l loader) cases(names []string, trees map[string]Tree) ([]Case, error) {
	c := corpus{byID: map[string]position{}}
	for _, name := range names {
		f, err := l.open(name)
		if err != nil {
			return nil, err
		}
		err = c.read(l.path(name), f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	for i := range c.cases {
		if err := c.cases[i].validateStaging(trees); err != nil {
			return nil, c.positions[i].wrap(err)
		}
	}
	return c.cases, nil
}

// rubricVersion reads the one field of a rubric that the manifest states beside
// its text. All the rest is for the judge to read.
func rubricVersion(file string, text []byte) (string, error) {
	var version string
	err := strictyaml.Read(file, text, func(root strictyaml.Node) {
		n := root.Lookup("version")
		if n.Absent() {
			n.Fault("number your rubric, as in version: 1", "the field \"version\" is missing")
		}
		version = n.PlainScalar()
		if err := checkPlain(version); err != nil {
			n.Fault("", "%v", err)
		}
	})
	return version, err
}
