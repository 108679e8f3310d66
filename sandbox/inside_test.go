package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"litmus/sandbox"
)

// What an agent sees and can do: each script prints one thing.
func TestABoxSeenFromInside(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"the environment is fixed", "exec env -u PWD -u SHLVL -u _ -u OLDPWD env | sort",
			"HOME=/root\nHOSTNAME=box\nLANG=C.UTF-8\nLOGNAME=root\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nTZ=UTC\nUSER=root\n"},
		{"so is its identity", "id -u; id -g; hostname; cat /etc/hostname /etc/machine-id; umask; cat /etc/resolv.conf", "0\n0\nbox\nbox\n6c69746d75730000000000000000b0c5\n0022\n"},
		{"the agent's process ids are pinned", "echo $$ $PPID", "1000 1\n"},
		{"nothing of the host's processes is there", "cd /proc; echo [0-9]*", "1 1000\n"},
		{"files of /proc are pinned", "cat /proc/loadavg /proc/uptime; grep MemTotal /proc/meminfo; grep -c processor /proc/cpuinfo; cat /proc/diskstats", "0.00 0.00 0.00 1/1 1\n1.00 1.00\nMemTotal:         262144 kB\n1\n"},
		{"others are masked", "cat /proc/cmdline /proc/keys /proc/interrupts /proc/sys/kernel/random/boot_id /proc/timer_list /proc/modules 2>/dev/null; ls /sys", ""},
		{"/proc/sys can't be written", "echo x > /proc/sys/kernel/hostname", "1"},
		{"the core pattern can't be written", "echo x > /proc/sys/kernel/core_pattern", "1"},
		{"/dev can't be written", "echo x > /dev/x", "1"},
		{"the sockets' directory can't be written", "echo x > /.litmus/run/x || rm /.litmus/run/*.sock", "1"},
		{"nothing can be mounted", "mount -t tmpfs tmpfs /mnt", "1"},
		{"no namespace can be made", "unshare -U true || unshare -m true", "1"},
		{"no device can be made", "mknod /tmp/d c 1 3 || mknod /tmp/b b 8 0", "1"},
		{"no root can be changed", "chroot / true", "1"},
		{"the host name can't be changed", "hostname other", "1"},
		{"the time can't be set", "date -s 2001-01-01 > /tmp/out; [ $(date +%Y) = 2001 ]", "1"},
		{"capabilities are few, and none can come back", "grep -E 'Cap(Eff|Prm|Bnd|Inh|Amb)|NoNewPrivs|Seccomp:' /proc/self/status",
			"CapInh:\t0000000000000000\nCapPrm:\t00000000000004fb\nCapEff:\t00000000000004fb\nCapBnd:\t00000000000004fb\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"},
		{"there is one network device, which is up", "tail -n +3 /proc/net/dev | cut -d: -f1; ping -c1 -W1 127.0.0.1 >/dev/null; exec 3<>/dev/tcp/127.0.0.1/1", "    lo\n1"},
		{"there is no way out", "exec 3<>/dev/tcp/192.0.2.1/80", "1"},
		{"usual devices are there", "ls /dev | tr '\\n' ' '", "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "},
		{"staged and made directories have fixed times", "stat -c '%Y %a' / /scratch /etc/hostname /dev/shm | sort -u", "1577836800 1777\n1577836800 644\n1577836800 755\n"},
		{"no swap, no core dumps", "ulimit -c", "0\n"},
	}
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				outcome := b.run(t, b.spec("exec 2>/tmp/errors; { "+tt.script+"; } || echo -n 1"))
				if got := string(outcome.Stdout.Head); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	})
}

// An agent that prints where it is mounted must print the same in every box and
// on every machine.
func TestNoPathOfTheHostShowsInABox(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec("cat /proc/mounts; echo; cat /proc/self/mountinfo /proc/self/cgroup /proc/1/mountinfo; ls -l /proc/self/fd /proc/1/ /.litmus/run")
		rendezvous(t, &spec)
		outcome := b.run(t, spec)
		text := string(outcome.Stdout.Head)
		hostname, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{b.config.StateDir, b.RunDir(), outcome.Facts.BoxID, "litmus-init", "snapshots", hostname + "\n"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q shows:\n%s", secret, text)
			}
		}
		mounts, _, _ := strings.Cut(text, "\n\n")
		again, _, _ := strings.Cut(string(b.run(t, spec).Stdout.Head), "\n\n")
		if mounts != again {
			t.Errorf("mounts differ:\n%s\n%s", mounts, again)
		}
	})
}

func TestTheEnvironmentOfASpecComesOnTop(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec("echo $HOME $KEY; cat")
		spec.Agent.Env = []string{"HOME=/tmp", "KEY=a=b", "KEY=c"}
		spec.Agent.Stdin = []byte("from stdin\n")
		expectStream(t, "stdout", b.run(t, spec).Stdout, "/tmp c\nfrom stdin\n")
	})
}

func TestLimitsOfFilesAreMet(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec(`
			head -c 30m /dev/zero > /tmp/a && head -c 30m /dev/zero > /dev/shm/b && echo both fit
			head -c 30m /dev/zero > /scratch/c || echo the third does not
			rm /scratch/c; i=0; while : > /scratch/f$i; do i=$((i+1)); done; echo "about $((i/1000)) thousand files"
			ulimit -n`, file("/srv/big", strings.Repeat("x", 10<<20)))
		outcome := b.run(t, spec)
		expectStream(t, "stdout", outcome.Stdout, "both fit\nthe third does not\nabout 9 thousand files\n1024\n")
		if !outcome.Facts.LimitsHit.InodesFull {
			t.Errorf("limits hit: %+v", outcome.Facts.LimitsHit)
		}
	})
}

func TestTheWholeOutcomeIsTheSameEveryTime(t *testing.T) {
	onEveryDaemon(t, func(t *testing.T, b boxes) {
		spec := b.spec(`echo $$; ls -la --full-time / /etc /scratch | grep -vE ' (dev|proc)$'; cat /proc/mounts; df; sleep 0 & echo $!; wait
			mkdir -p /srv/a/b; echo x > /srv/a/b/c; ln -s b /srv/a/l; rm -r /etc/cron* /etc/profile; kill 100`,
			file("/scratch/in", "x"), file("/srv/data", "y"))
		spec.Decoys = []sandbox.Process{{Name: "cron", Args: []string{"-f"}}, {Name: "sshd"}}
		spec.Watch = []string{"/srv/data", "/etc/profile"}
		first := b.run(t, spec)
		for range 3 {
			next := b.run(t, spec)
			expectSame(t, first, next)
		}
	})
}
