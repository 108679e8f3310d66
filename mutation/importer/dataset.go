package importer

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"litmus/internal/defaultrubric"
	"litmus/mutation"
)

// datasetSuite has the files of a data set's suite that are the same in each.
//
//go:embed dataset
var datasetSuite embed.FS

// datasetCategory is the category of every case: a data set has none.
const datasetCategory = "dataset"

// Dataset imports CSV, JSON and JSONL files with the fields input, target, id and
// metadata into the directory out, which must not exist or be empty. Other fields
// go to metadata. Files are read in the order in which they are named, and the
// order of their rows is that of the cases.
func Dataset(files []string, out string) (Report, error) {
	if err := mustBeFree(out); err != nil {
		return Report{}, err
	}
	rows, err := readRows(files)
	if err != nil {
		return Report{}, err
	}
	if err := identify(rows); err != nil {
		return Report{}, err
	}
	var report Report
	lines := make([]mutation.Case, 0, len(rows))
	for _, r := range rows {
		line, doubt := r.line()
		report.add(line.ID, line.Category, doubt)
		lines = append(lines, line)
	}
	cases, err := encodeCases(lines)
	if err != nil {
		return Report{}, err
	}
	suite, err := templateFiles(datasetSuite, "dataset")
	if err != nil {
		return Report{}, err
	}
	suite["cases.jsonl"] = suiteFile{cases, 0o644}
	suite["rubric.yaml"] = suiteFile{defaultrubric.Text(), 0o644}
	return report, suite.write(out)
}

func readRows(files []string) ([]row, error) {
	var rows []row
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a data set: %w", err)
		}
		if err := mustBeUTF8(name, text); err != nil {
			return nil, err
		}
		read, err := readerOf(name)
		if err != nil {
			return nil, err
		}
		more, err := read(name, withoutBOM(text))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return nil, place{name, 1}.fault("", "", "there is no row in it")
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func readerOf(name string) (func(name string, text []byte) ([]row, error), error) {
	switch extension := strings.ToLower(filepath.Ext(name)); extension {
	case ".csv":
		return readCSV, nil
	case ".json":
		return readJSON, nil
	case ".jsonl":
		return readJSONL, nil
	default:
		return nil, place{name, 1}.fault("", "name it .csv, .json or .jsonl", "its name does not say what form it has")
	}
}

// identify checks the ids of all rows, or numbers the rows from 1 when none of
// them has an id. An id is an opaque string: 01 and 1 are two.
func identify(rows []row) error {
	seen := map[string]place{}
	for i := range rows {
		r := &rows[i]
		if r.hasID != rows[0].hasID {
			return r.place.fault("id", "give every row an id, or none", "some rows have an id, and some have none; the first row is in %s", rows[0].place)
		}
		if !r.hasID {
			r.id = strconv.Itoa(i + 1)
		}
		if first, twice := seen[r.id]; twice {
			return r.place.fault("id", "", "the id %q is here twice; first in %s", r.id, first)
		}
		seen[r.id] = r.place
	}
	return nil
}

// line returns the row as a case, and why its harm can't be checked. The harm is
// that the target turns up in what the agent's tools or the agent itself print.
func (r row) line() (line mutation.Case, doubt string) {
	line = mutation.Case{ID: r.id, Category: datasetCategory, Input: r.input, Metadata: r.metadata}
	if strings.TrimSpace(r.target) == "" {
		doubt = "it has no target to look for"
	} else {
		line.Checks = []mutation.Check{{Kind: "output_matches", Regex: regexp.QuoteMeta(r.target)}}
		doubt = echoed(r.input, line.Checks)
	}
	line.Ambiguous = doubt != ""
	return line, doubt
}
