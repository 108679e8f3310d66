package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

func TestBashGivesItsExitCodeAndItsOutputInOrder(t *testing.T) {
	for name, c := range map[string]struct{ command, want string }{
		"nothing":                         {"true", "exit code: 0\n"},
		"a code":                          {"echo no; exit 3", "exit code: 3\nno\n"},
		"a signal":                        {"kill -9 $$", "exit code: 137\n"},
		"both streams":                    {"echo a; echo b >&2; printf c; echo d >&2", "exit code: 0\na\nb\ncd\n"},
		"bytes that are no text":          {`printf 'a\377\xc3\xa9\xc3(\0'`, "exit code: 0\na\\xffé\\xc3(\x00"},
		"no input":                        {"cat; echo end", "exit code: 0\nend\n"},
		"a process that holds the output": {"echo now; sleep 600 & echo $! >$LEFT; exit 0", "exit code: 0\nnow\n"},
		"a command that is not there":     {"/nowhere 2>/dev/null", "exit code: 127\n"},
	} {
		t.Run(name, func(t *testing.T) {
			left := filepath.Join(t.TempDir(), "left")
			t.Setenv("LEFT", left)
			got := callTool("bash", object(t, "command", c.command))
			end(t, left)
			if got != c.want {
				t.Errorf("result %q, want %q", got, c.want)
			}
		})
	}
}

// end kills the process whose id is in the file left, if there is one.
func end(t *testing.T, left string) {
	t.Helper()
	text, err := os.ReadFile(left)
	if os.IsNotExist(err) {
		return
	}
	check(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	check(t, unix.Kill(pid, unix.SIGKILL))
}

func TestAProcessThatWritesWithoutEndDoesNotHoldTheCall(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left")
	t.Setenv("LEFT", left)
	got := callTool("bash", `{"command":"yes & echo $! >$LEFT"}`)
	end(t, left)
	if !strings.HasPrefix(got, "exit code: 0\n") {
		t.Errorf("result %.40q", got)
	}
}

func TestDrainTakesWhatThePipeHoldsAndDoesNotWait(t *testing.T) {
	read, write, err := os.Pipe()
	check(t, err)
	defer read.Close()
	defer write.Close()
	sent := noise(50_000)
	_, err = write.Write(sent)
	check(t, err)
	check(t, read.SetReadDeadline(past)) // as when a reader has been told to stop
	var got bytes.Buffer
	check(t, drain(read, &got))
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("drained %d bytes of %d", got.Len(), len(sent))
	}
}

func object(t *testing.T, pairs ...string) string {
	t.Helper()
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(m)
	check(t, err)
	return string(text)
}

func TestLongOutputIsCutWithANote(t *testing.T) {
	got := callTool("bash", `{"command":"head -c 100000 /dev/zero | tr '\\0' x"}`)
	want := "exit code: 0\n" + strings.Repeat("x", maxToolOutput) + "\n[truncated: the first 65536 of 100000 bytes]"
	if got != want {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-60:])
	}
	if got = callTool("bash", `{"command":"head -c 65536 /dev/zero | tr '\\0' x"}`); len(got) != len("exit code: 0\n")+maxToolOutput {
		t.Errorf("output of exactly the most becomes %d bytes", len(got))
	}
}

func TestTheCutIsBetweenCharacters(t *testing.T) {
	for name, c := range map[string]struct{ head, want string }{
		"before a character of two bytes":   {"abc\xc3", "abc"},
		"before the last of four bytes":     {"abc\xf0\x9f\x98", "abc"},
		"after a whole character":           {"abcé", "abcé"},
		"bytes that begin nothing are kept": {"abc\x80\x80\x80\x80", "abc\x80\x80\x80\x80"},
		"nothing":                           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(withoutPartialRune([]byte(c.head))); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzToolOutputIsText(f *testing.F) {
	f.Add([]byte("a\xffé\xed\xa0\x80\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text := escapeInvalid(b)
		if !utf8.ValidString(text) {
			t.Fatalf("%q became %q", b, text)
		}
		if utf8.Valid(b) && text != string(b) {
			t.Fatalf("text %q became %q", b, text)
		}
	})
}

func TestABackgroundProcessLivesOnAfterItsToolCall(t *testing.T) {
	folder := t.TempDir()
	fifo, done := filepath.Join(folder, "fifo"), filepath.Join(folder, "done")
	check(t, unix.Mkfifo(fifo, 0o600))
	check(t, unix.Mkfifo(done, 0o600))
	// It writes more than a pipe holds, after the call, and must come to its end.
	callTool("bash", object(t, "command", fmt.Sprintf("{ read go <%s; head -c 1000000 /dev/zero; echo $? >%s; } &", fifo, done)))
	check(t, os.WriteFile(fifo, []byte("go\n"), 0))
	got, err := os.ReadFile(done)
	if string(got) != "0\n" {
		t.Errorf("head ended with %q, %v", got, err)
	}
}

func TestEachCommandLeadsAProcessGroup(t *testing.T) {
	got := callTool("bash", `{"command":"read -r pid _ _ _ group _ </proc/$$/stat; [ $pid = $group ]"}`)
	if got != "exit code: 0\n" {
		t.Error(got)
	}
}

func TestFilesAreReadAndWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, step := range []struct{ tool, arguments, want string }{
		{"write_file", `{"path":"a/b","content":"é\n"}`, "wrote 3 bytes to a/b"},
		{"read_file", `{"path":"a/b"}`, "é\n"},
		{"write_file", `{"path":"a/b","content":""}`, "wrote 0 bytes to a/b"},
		{"read_file", `{"path":"a/b"}`, ""},
		{"read_file", `{"path":"none"}`, "error: open none: no such file or directory"},
		{"read_file", `{"path":"a"}`, "error: read a: not a regular file"},
		{"read_file", `{"path":"/dev/zero"}`, "error: read /dev/zero: not a regular file"},
		{"write_file", `{"path":"a","content":"x"}`, "error: open a: is a directory"},
		{"write_file", `{"path":"a/b/c","content":"x"}`, "error: mkdir a/b: not a directory"},
	} {
		if got := callTool(step.tool, step.arguments); got != step.want {
			t.Errorf("%s %s: %q, want %q", step.tool, step.arguments, got, step.want)
		}
	}
	check(t, syscall.Mkfifo("fifo", 0o600))
	if got, want := callTool("read_file", `{"path":"fifo"}`), "error: read fifo: not a regular file"; got != want {
		t.Errorf("a FIFO: %q, want %q", got, want)
	}
}

func TestMistakesOfTheModelAreAnswered(t *testing.T) {
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"a tool that is not there": {"sudo", `{}`, "error: there is no tool sudo"},
		"no arguments":             {"bash", ``, "error: the arguments of bash are not the JSON object that it takes"},
		"half of them":             {"bash", `{"command":"ls`, "error: the arguments of bash are not the JSON object that it takes"},
		"none that it takes":       {"bash", `{}`, "error: the arguments of bash are not the JSON object that it takes"},
		"null":                     {"read_file", `null`, "error: the arguments of read_file are not the JSON object that it takes"},
		"a wrong type":             {"read_file", `{"path":["/"]}`, "error: the arguments of read_file are not the JSON object that it takes"},
		"one too many":             {"bash", `{"command":"ls","timeout":1}`, "error: the arguments of bash are not the JSON object that it takes"},
		"one of another tool":      {"bash", `{"command":"ls","path":"/"}`, "error: the arguments of bash are not the JSON object that it takes"},
		"a NUL in a command":       {"bash", `{"command":"ls\u0000"}`, "error: fork/exec /usr/bin/bash: invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := callTool(c.tool, c.arguments); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
