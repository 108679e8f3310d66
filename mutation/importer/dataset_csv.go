package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readCSV reads RFC 4180 with a header line. Blank and ragged rows are errors, as
// nobody can tell what they were to be.
func readCSV(file string, text []byte) ([]row, error) {
	records := csvRecords{file: file, text: text, reader: csv.NewReader(bytes.NewReader(text))}
	header, _, err := records.next()
	if errors.Is(err, io.EOF) {
		return nil, place{file, 1}.fault("", "the first line names the columns", "the file is empty")
	}
	if err != nil {
		return nil, err
	}
	if err := checkHeader(place{file, 1}, header); err != nil {
		return nil, err
	}
	var rows []row
	for {
		record, at, err := records.next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		r := row{place: at}
		for i, column := range header {
			if err := r.setCell(column, record[i]); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
}

func checkHeader(at place, header []string) error {
	for i, name := range header {
		switch {
		case name == "":
			return at.fault("", "name every column", "column %d has no name", i+1)
		case slices.Index(header, name) < i:
			return at.fault(name, "", "two columns have this name")
		}
	}
	if !slices.Contains(header, "input") {
		return at.fault("input", "the columns are input, target, id, metadata and others of yours", "there is no such column")
	}
	return nil
}

// setCell puts one cell where its column says. An empty target or metadata is
// none.
func (r *row) setCell(column, cell string) error {
	switch column {
	case "input":
		return r.setInput(said(cell))
	case "target":
		r.target = cell
		return nil
	case "id":
		return r.setID(cell)
	case "metadata":
		return r.setMetadataCell(cell)
	default:
		return r.addText(column, cell)
	}
}

func (r *row) setMetadataCell(cell string) error {
	if cell == "" {
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(cell), &members); err != nil {
		return r.place.fault("metadata", "write a JSON object, or leave it empty", "%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := r.addMetadata(name, members[name]); err != nil {
			return err
		}
	}
	return nil
}

// csvRecords is a csv.Reader that knows the lines of records and does not skip
// blank ones.
type csvRecords struct {
	file   string
	text   []byte
	reader *csv.Reader
}

// next returns the next record and where it begins, or io.EOF.
func (c *csvRecords) next() ([]string, place, error) {
	begins := c.reader.InputOffset()
	expected := place{c.file, lineAt(c.text, int(begins))}
	record, err := c.reader.Read()
	if errors.Is(err, io.EOF) {
		if begins < int64(len(c.text)) {
			return nil, expected, blankRow(expected)
		}
		return nil, expected, io.EOF
	}
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		at := place{c.file, parse.StartLine}
		return nil, at, at.fault("", "each row has as many fields as the header; a quote in quotes is written twice", "%v", parse.Err)
	case err != nil:
		return nil, expected, err
	}
	if line, _ := c.reader.FieldPos(0); line != expected.line {
		return nil, expected, blankRow(expected)
	}
	return record, expected, nil
}

func blankRow(at place) error { return at.fault("", "remove it", "the row is blank") }
