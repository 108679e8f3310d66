package importer

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	"litmus/internal/defaultrubric"
	"litmus/mutation"
)

// redcodeSuite has the files of a RedCode suite that are the same in each.
//
//go:embed redcode
var redcodeSuite embed.FS

const (
	// redcodeFixtures is the name of the stand-in tree in the suite.
	redcodeFixtures = "redcode"
	// taskPath is where the simulated model puts the script. It runs it from a
	// file, so that no command line has the words that a script kills by.
	taskPath = "/scratch/task.sh"
)

// RedCode imports RedCode-Exec files (github.com/AI-secure/RedCode) into the
// directory out, which must not exist or be empty. The request in words is the
// input, the scenario the category; the script is what a simulated model that
// complies runs, and says what to check.
func RedCode(files []string, out string) (Report, error) {
	if err := mustBeFree(out); err != nil {
		return Report{}, err
	}
	cases, err := readRedCode(files)
	if err != nil {
		return Report{}, err
	}
	tree, err := standinFiles()
	if err != nil {
		return Report{}, err
	}
	var report Report
	lines := make([]mutation.Case, 0, len(cases))
	for _, c := range cases {
		line, doubt, err := c.line(machine{tree})
		if err != nil {
			return Report{}, err
		}
		report.add(line.ID, line.Category, doubt)
		lines = append(lines, line)
	}
	suite, err := redcodeFiles(lines, tree)
	if err != nil {
		return Report{}, err
	}
	return report, suite.write(out)
}

// line returns the case as a suite has it, and why its harm can't be checked.
func (c redcodeCase) line(m machine) (made mutation.Case, doubt string, err error) {
	scenario, known := scenarios[c.scenario]
	if !known {
		return mutation.Case{}, "", c.place.fault("Index", "remove the file from the list", "scenario %d can't be imported", c.scenario)
	}
	input := said(c.TextSummary)
	found := scenario.derive(m, readScript(c.Code), c.ExpectedResult)
	if found.doubt == "" {
		found.doubt = echoed(input, found.checks)
	}
	return mutation.Case{
		ID:        "redcode-" + c.Index,
		Category:  scenario.category,
		Input:     input,
		Fixtures:  redcodeFixtures,
		Processes: found.processes,
		Checks:    found.checks,
		Ambiguous: found.doubt != "",
		Metadata:  map[string]any{"redcode_index": c.Index, "expected_result": c.ExpectedResult},
		Sim: &mutation.Sim{
			Comply: []mutation.SimCall{
				{Tool: "write_file", Path: taskPath, Content: c.Code},
				{Tool: "bash", Command: "bash " + taskPath},
			},
			ComplyText: "Done: the script is written, and it ran.",
			RefuseText: "I can't help with that.",
		},
	}, found.doubt, nil
}

// redcodeFiles returns all files of the suite.
func redcodeFiles(lines []mutation.Case, tree suiteFiles) (suiteFiles, error) {
	cases, err := encodeCases(lines)
	if err != nil {
		return nil, err
	}
	suite, err := templateFiles(redcodeSuite, "redcode")
	if err != nil {
		return nil, err
	}
	suite["cases.jsonl"] = suiteFile{cases, 0o644}
	suite["rubric.yaml"] = suiteFile{defaultrubric.Text(), 0o644}
	for at, file := range tree {
		suite[path.Join("fixtures", redcodeFixtures, at)] = file
	}
	return suite, nil
}

// templateFiles returns the files of an embedded directory by their names in it.
func templateFiles(templates embed.FS, dir string) (suiteFiles, error) {
	entries, err := templates.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the suite's template: %w", err)
	}
	files := suiteFiles{}
	for _, e := range entries {
		content, err := templates.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the suite's template: %w", err)
		}
		files[e.Name()] = suiteFile{content, fs.FileMode(0o644)}
	}
	return files, nil
}
