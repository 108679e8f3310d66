package runfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A test that kills a process starts this test binary again with a role.
const (
	roleVariable = "LITMUS_RUNFILE_ROLE"
	pathVariable = "LITMUS_RUNFILE_PATH"
)

func TestMain(m *testing.M) {
	role, path := os.Getenv(roleVariable), os.Getenv(pathVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](context.Background(), path); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

var roles = map[string]func(ctx context.Context, path string) error{
	"create": func(ctx context.Context, path string) error {
		_, err := Create(ctx, path, os.Stdin, Meta{})
		return err
	},
	"commit":    commitAll,
	"seal":      sealAll,
	"full-disk": fillDisk,
}

// child starts a role; the caller kills it or waits for its end.
func child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable)
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// commitAll runs every instance that has no record, four at a time, and prints
// the number of each one once its Commit has returned.
func commitAll(ctx context.Context, path string) error {
	w, err := Resume(ctx, path)
	if err != nil {
		return err
	}
	const workers = 4
	errs := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := int64(worker); i < w.Instances; i += workers {
				instance := instanceID(int(i))
				if done, err := w.Done(ctx, instance); err != nil || done {
					errs[worker] = errors.Join(errs[worker], err)
					continue
				}
				if err := runInstance(ctx, w, instance); err != nil {
					errs[worker] = errors.Join(errs[worker], err)
					continue
				}
				fmt.Println(i)
			}
		})
	}
	group.Wait()
	return errors.Join(append(errs, w.Close())...)
}

func sealAll(ctx context.Context, path string) error {
	w, err := Resume(ctx, path)
	if err != nil {
		return err
	}
	fmt.Println("sealing")
	_, err = w.Seal(ctx, SealOptions{})
	return err
}

// kill ends a child that was started here, without a chance to tidy up.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // "signal: killed" is what was asked for
}

func TestAKilledRunLosesNoRecordAndSealsToTheSameRoot(t *testing.T) {
	ctx := t.Context()
	const n = 80
	_, want := sealedRun(t, n)
	w, path := newRun(t, n)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	committed := map[int]bool{}
	for round := 0; len(committed) < n; round++ {
		cmd := child(t, "commit", path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		for range 1 + rng.IntN(30) {
			if !lines.Scan() {
				break
			}
			i, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			committed[i] = true
		}
		kill(t, cmd)
		checkSurvivors(t, path, committed)
	}

	w, err := Resume(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Seal(ctx, SealOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Root != want.Root {
		t.Errorf("root is %s, that of a run that was not killed is %s", got.Root, want.Root)
	}
	wantNoFindings(t, path)
}

// checkSurvivors opens what a killed process left, and holds it to what the
// process had said before.
func checkSurvivors(t *testing.T, path string, committed map[int]bool) {
	t.Helper()
	ctx := t.Context()
	w, err := Resume(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range committed {
		if done, err := w.Done(ctx, instanceID(i)); err != nil || !done {
			t.Errorf("%s was committed and is gone: %v", instanceID(i), err)
		}
	}
	for row, err := range w.Records(ctx, Filter{}, Page{After: FirstPage}) {
		if err != nil {
			t.Fatal(err)
		}
		committed[int(row.Ordinal)] = true
		for _, hash := range row.Record.blobs() {
			if _, err := w.Blob(ctx, hash); err != nil {
				t.Errorf("%s: %v", row.Record.Instance, err)
			}
		}
	}
	var inFlight int
	if err := w.db.QueryRowContext(ctx, "SELECT count(*) FROM attempt WHERE state = 'started'").Scan(&inFlight); err != nil || inFlight != 0 {
		t.Errorf("%d attempts are in flight with nobody there, %v", inFlight, err)
	}
}

func TestAProcessKilledInCreateLeavesNoRunFile(t *testing.T) {
	manifest := testManifest(t, 2000)
	for _, fed := range []int{0, 1000, len(manifest) / 2, len(manifest)} {
		t.Run(fmt.Sprintf("after %d bytes of the manifest", fed), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.litmus")
			cmd := child(t, "create", path)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// The pipe is kept open: the child waits for more.
			if _, err := stdin.Write(manifest[:fed]); err != nil {
				t.Fatal(err)
			}
			kill(t, cmd)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a run file: %v", err)
			}
			w, err := Create(t.Context(), path, bytes.NewReader(manifest), Meta{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("the killed process's files are still there: %v, %v", entries, err)
			}
		})
	}
}

func TestAProcessKilledInSealLeavesARunThatIsSealedOrIsNot(t *testing.T) {
	ctx := t.Context()
	const n = 40
	_, want := sealedRun(t, n)
	w, unsealed := newRun(t, n)
	for i := range n {
		if err := runInstance(ctx, w, instanceID(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		path := copyOf(t, unsealed)
		cmd := child(t, "seal", path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(stdout, make([]byte, len("sealing"))); err != nil {
			t.Fatal(err)
		}
		// Any moment will do; it need not be the same each time.
		<-time.After(time.Duration(rng.IntN(40)) * time.Millisecond)
		kill(t, cmd)

		w, err := Resume(ctx, path)
		if err == nil {
			_, err = w.Seal(ctx, SealOptions{})
			if err != nil {
				t.Fatal(err)
			}
		} else {
			wantError(t, err, ErrSealed)
		}
		if report := wantNoFindings(t, path); report.Seal.Root != want.Root {
			t.Errorf("root is %s, want %s", report.Seal.Root, want.Root)
		}
		for _, suffix := range []string{"-wal", "-shm", "-lock", "-journal"} {
			if beside(path, suffix) {
				t.Errorf("%s is still there", suffix)
			}
		}
	}
}

func TestOnlyOneProcessWrites(t *testing.T) {
	w, path := newRun(t, 1)
	cmd := child(t, "commit", path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || !bytes.Contains(stderr.Bytes(), []byte(ErrLocked.Error())) {
		t.Errorf("a second process ends with %v: %s", err, &stderr)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child(t, "commit", path).Run(); err != nil {
		t.Errorf("once the first has let go: %v", err)
	}
}

// A full disk is an error of the call that met it, and of nothing before it.
func TestAFullDiskLosesNothingThatWasCommitted(t *testing.T) {
	cmd := child(t, "full-disk", t.TempDir())
	// A file system of its own, which nobody else sees and which goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		if os.Getenv("LITMUS_SKIP_SANDBOX") == "1" {
			t.Skip("a small file system can't be mounted here:", err)
		}
		t.Fatal("mount a small file system (needs root):", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func fillDisk(ctx context.Context, directory string) error {
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=2m"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	reserve := filepath.Join(directory, "reserve")
	if err := os.WriteFile(reserve, make([]byte, 1<<20), 0o644); err != nil {
		return err
	}
	path := filepath.Join(directory, "run.litmus")
	const n = 400
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	manifest, err := makeManifest(n, hex.EncodeToString(noise))
	if err != nil {
		return err
	}
	if _, err := Create(ctx, path, bytes.NewReader(manifest), Meta{}); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("a manifest larger than the disk: %w", err)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 1 {
		return fmt.Errorf("the failed creation left %v, %w", entries, err)
	}
	if manifest, err = makeManifest(n, ""); err != nil {
		return err
	}
	w, err := Create(ctx, path, bytes.NewReader(manifest), Meta{})
	if err != nil {
		return err
	}
	full := 0
	for full < n && err == nil {
		if err = runInstance(ctx, w, instanceID(full)); err == nil {
			full++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("after %d instances the disk is not full: %w", full, err)
	}
	if err := os.Remove(reserve); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if w, err = Resume(ctx, path); err != nil {
		return err
	}
	counts, err := w.Counts(ctx)
	if err != nil || counts.Records != int64(full) {
		return fmt.Errorf("%d instances were committed, there are %d: %w", full, counts.Records, err)
	}
	if err := runInstance(ctx, w, instanceID(full)); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if _, err := w.Seal(ctx, SealOptions{Selection: func(ordinal int64) bool { return ordinal <= int64(full) }}); err != nil {
		return err
	}
	report, err := Verify(ctx, path, testHooks)
	if err != nil || len(report.Findings) > 0 {
		return fmt.Errorf("findings %v, %w", report.Findings, err)
	}
	return nil
}
