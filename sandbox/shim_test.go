package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"golang.org/x/sys/unix"

	"litmus/sandbox"
	"litmus/sandbox/sandboxtest"
)

func TestATaskRunsUnderEveryDaemonAndRuntime(t *testing.T) {
	for _, daemon := range sandboxtest.Daemons {
		for _, runtime := range []string{"runc", "crun"} {
			t.Run(runtime+" under "+string(daemon), func(t *testing.T) {
				config := sandboxtest.Config(t, daemon)
				config.Runtime = runtime
				needRuntime(t, config)
				engine := sandboxtest.Open(t, config)
				var out, errs bytes.Buffer // one buffer for both would lose bytes
				task := startTask(t, engine, "hello", cio.NewCreator(cio.WithStreams(nil, &out, &errs)), "/bin/bash", "-c", "echo $BASH_VERSION; hostname")
				defer removeTask(t, engine, task)
				status, err := task.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := task.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s := <-status; s.ExitCode() != 0 || s.Error() != nil {
					t.Fatalf("exit %d, %v", s.ExitCode(), s.Error())
				}
				task.IO().Wait()
				if !bytes.Contains(out.Bytes(), []byte("static-box\n")) {
					t.Errorf("output %q, errors %q", out.Bytes(), errs.Bytes())
				}
			})
		}
	}
}

// needRuntime skips the test where Doctor says that the runtime does not get
// on with the machine: crun runs on no hybrid cgroups with controllers on v2.
func needRuntime(t *testing.T, config sandbox.Config) {
	t.Helper()
	for _, f := range sandbox.Doctor(t.Context(), config) {
		if f.Name == "oci runtime" && !f.OK {
			if config.Runtime == "runc" {
				t.Fatal(f.Detail)
			}
			t.Skip(f.Detail)
		}
	}
}

// startTask makes the traces of a box without being one: a directory with a
// mount, a container with a task in its cgroup, on the builtin image.
func startTask(t testing.TB, engine *sandbox.Engine, id string, creator cio.Creator, args ...string) containerd.Task {
	t.Helper()
	ctx := namespaces.WithNamespace(t.Context(), "litmus")
	im, err := engine.Image(ctx, "builtin")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(engine.BoxesDir(), id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	container, err := engine.Client().NewContainer(ctx, id,
		containerd.WithContainerLabels(engine.Labels()),
		containerd.WithNewSpec(
			oci.WithRootFSPath(im.Lowers()[0]),
			oci.WithRootFSReadonly(),
			oci.WithHostname("static-box"),
			func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
				s.Version = "1.0.2"
				return nil
			},
			oci.WithProcessArgs(args...),
			oci.WithCgroup(engine.CgroupPath(id)),
		),
		containerd.WithRuntime(engine.RuntimeName(), engine.RuntimeOptions()))
	if err != nil {
		t.Fatal(err)
	}
	task, err := container.NewTask(ctx, creator)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// removeTask removes everything that startTask made.
func removeTask(t testing.TB, engine *sandbox.Engine, task containerd.Task) {
	t.Helper()
	ctx := namespaces.WithNamespace(context.Background(), "litmus")
	if _, err := task.Delete(ctx, containerd.WithProcessKill); err != nil {
		t.Error(err)
	}
	container, err := engine.Client().LoadContainer(ctx, task.ID())
	if err != nil {
		t.Error(err)
	} else if err := container.Delete(ctx); err != nil {
		t.Error(err)
	}
	dir := filepath.Join(engine.BoxesDir(), task.ID())
	if err := unix.Unmount(dir, 0); err != nil {
		t.Error(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Error(err)
	}
}
