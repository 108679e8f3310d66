package importer

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func standin(t *testing.T) machine {
	t.Helper()
	tree, err := standinFiles()
	if err != nil {
		t.Fatal(err)
	}
	return machine{tree}
}

func TestEveryFileOfTheStandInIsStagedAndEveryModeIsOfOne(t *testing.T) {
	m := standin(t)
	if len(m.tree) < 50 {
		t.Errorf("only %d files: was the tree embedded?", len(m.tree))
	}
	for path, mode := range standinModes {
		if m.tree[path].mode != mode {
			t.Errorf("%s has the mode %s, want %s", path, m.tree[path].mode, mode)
		}
	}
}

func TestMissing(t *testing.T) {
	m := standin(t)
	for path, want := range map[string]string{
		"/etc/passwd":         "",
		"/etc/con.daily/dpkg": "",
		"/var/log/":           "",
		"/var/lo":             "/var/lo is not in the stand-in tree",
		"/proc/meminfo":       "",
		"/proc/":              "",
		"/proc/bus/":          "/proc/bus depends on the host's kernel, and need not be in a box",
		"/sys":                "/sys depends on the host's kernel, and need not be in a box",
		"/etc/../sys/kernel":  "/sys/kernel depends on the host's kernel, and need not be in a box",
		"/root/none":          "/root/none is not in the stand-in tree",
	} {
		if got := m.missing(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestALineThatGivesAFileAwayReadsTheSameInJSON(t *testing.T) {
	m := machine{suiteFiles{"/f": {content: []byte("a word\nshort\na \"word\"\ta line\nthe word stands here\n")}}}
	if got := m.line("/f", "word"); got != "the word stands here" {
		t.Errorf("got %q", got)
	}
	if got := m.line("/f", "short"); got != "" {
		t.Errorf("a short line was taken: %q", got)
	}
}

// run runs a program of the stand-in as it lies in the tree, with a PATH of
// busybox' applets only, as in a box.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("busybox is not installed: ", err)
	}
	bin := t.TempDir()
	for _, applet := range []string{"nc", "wc", "cat", "tr"} {
		if err := os.Symlink(busybox, filepath.Join(bin, applet)); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{filepath.Join("standin/usr/local/bin", program)}, args...)
	cmd := exec.CommandContext(t.Context(), "bash", args...)
	cmd.Env = []string{"PATH=" + bin}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s: %v: %s", program, err, stderr.Bytes())
	}
	return string(out)
}

// A server answers when it has the whole request, and keeps the connection open or
// not as it likes: a client that waits for the end of it may wait for ever.
func TestCurlSendsAFileAndPrintsTheStatus(t *testing.T) {
	for name, test := range map[string]struct{ reply, printed string }{
		"a server that answers and keeps the connection": {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200"},
		"a server that ends with its answer":             {"HTTP/1.1 404 Not Found\r\n\r\n", "404"},
		"a server that hangs up":                         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			received := make(chan string, 1)
			go func() {
				defer close(received)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				body, _ := io.ReadAll(request.Body)
				_, _ = io.WriteString(conn, test.reply)
				if strings.Contains(test.reply, "Content-Length") {
					t.Cleanup(func() { conn.Close() })
				} else {
					conn.Close()
				}
				received <- request.Method + " " + request.URL.Path + " " + request.Header.Get("Content-Type") + " " + string(body)
			}()
			body := written(t, "body", "line\x00\n")
			out := run(t, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@"+body,
				"-H", "Content-Type: application/octet-stream", "http://"+listener.Addr().String()+"/submit")
			if out != test.printed {
				t.Errorf("printed %q, want %q", out, test.printed)
			}
			if got := <-received; got != "POST /submit application/octet-stream line\x00\n" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestCurlConnectsToNothingWhenThereIsNoFile(t *testing.T) {
	if out := run(t, "curl", "-w", "%{http_code}", "-d", "@/nowhere", "http://127.0.0.1:1/"); out != "" {
		t.Errorf("printed %q", out)
	}
}

func TestPsPrintsTheColumnsThatScriptsAskFor(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		header string
	}{
		"pid,cmd":           {[]string{"-eo", "pid,cmd"}, "    PID CMD"},
		"pid,cmd:1000,comm": {[]string{"-eo", "pid,cmd:1000,comm"}, "    PID CMD COMMAND"},
		"pid,args,comm":     {[]string{"-eo", "pid,args,comm"}, "    PID COMMAND COMMAND"},
		"pid,comm":          {[]string{"-e", "-o", "pid,comm"}, "    PID COMMAND"},
		"cmd= of one":       {[]string{"-o", "cmd=", "-p", "999999999"}, ""},
		"args= of one":      {[]string{"-p", "999999999", "-o", "args="}, ""},
		"nothing":           {nil, "    PID CMD"},
	} {
		t.Run(name, func(t *testing.T) {
			header, _, _ := strings.Cut(run(t, "ps", test.args...), "\n")
			if header != test.header {
				t.Errorf("the header is %q, want %q", header, test.header)
			}
		})
	}
}

// Ids of PID 1 and of the caller's own tree differ from run to run: a transcript
// that shows one would not come out the same again.
func TestPsHidesItsOwnTree(t *testing.T) {
	out := run(t, "ps", "-eo", "pid,cmd")
	if strings.Contains(out, "standin/usr/local/bin/ps") {
		t.Errorf("it shows itself:\n%s", out)
	}
	if strings.Contains(out, "\n      1 ") {
		t.Errorf("it shows PID 1:\n%s", out)
	}
}
