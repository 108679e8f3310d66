package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// tool is a tool as the model is told of it.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// toolList is what every request offers. Its bytes are part of the transcript.
var toolList = []tool{
	{"function", function{
		"bash", "Run a command with bash and return its exit code and output.",
		json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`),
	}},
	{"function", function{
		"read_file", "Return the content of a file.",
		json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
	}},
	{"function", function{
		"write_file", "Write a file, with the folders that lead to it, and replace what it had.",
		json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`),
	}},
}

// callTool does what the model asks and returns the text for it. Whatever the
// model sends is answered; a mistake of its is answered with "error: …".
func callTool(name, arguments string) string {
	var a struct{ Command, Path, Content *string }
	if err := decodeStrict([]byte(arguments), &a); err != nil {
		return fmt.Sprintf("error: the arguments of %s are not the JSON object that it takes", name)
	}
	switch {
	case name == "bash" && a.Command != nil && a.Path == nil && a.Content == nil:
		return runBash(*a.Command)
	case name == "read_file" && a.Path != nil && a.Command == nil && a.Content == nil:
		return readFile(*a.Path)
	case name == "write_file" && a.Path != nil && a.Content != nil && a.Command == nil:
		return writeFile(*a.Path, *a.Content)
	case name == "bash", name == "read_file", name == "write_file":
		return fmt.Sprintf("error: the arguments of %s are not the JSON object that it takes", name)
	}
	return fmt.Sprintf("error: there is no tool %s", name)
}

var errNotRegular = errors.New("not a regular file")

// readFile returns a file's content, at most maxToolOutput bytes of it.
func readFile(path string) string {
	// Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "error: " + err.Error()
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if err != nil {
		return "error: " + err.Error()
	}
	var content toolOutput
	if _, err := io.Copy(&content, file); err != nil {
		return "error: " + err.Error()
	}
	return content.text()
}

// writeFile replaces a file's content.
func writeFile(path, content string) string {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "error: " + err.Error()
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return "error: " + err.Error()
	}
	_, err = file.WriteString(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("wrote %d bytes to %s", len(content), path)
}
