package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"litmus/runner"
)

// version of the program. The numbers that decide comparability are not this one but
// the semantics versions, which a build can keep over many commits.
const version = "0.1.0"

func newVersion() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the versions of everything that can change a result",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			v := versionInfo{Version: version, Go: runtime.Version(), Containerd: moduleVersion("github.com/containerd/containerd/v2"), Semantics: runner.Semantics()}
			if asJSON {
				return printJSON(c.OutOrStdout(), v)
			}
			fmt.Fprintf(c.OutOrStdout(), "litmus %s (%s, containerd %s)\n", v.Version, v.Go, v.Containerd)
			rows := [][]string{{"SEMANTICS", "VERSION"}}
			for _, name := range sortedKeys(v.Semantics) {
				rows = append(rows, []string{name, v.Semantics[name]})
			}
			table(c.OutOrStdout(), rows)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

type versionInfo struct {
	Version    string            `json:"version"`
	Go         string            `json:"go"`
	Containerd string            `json:"containerd"`
	Semantics  map[string]string `json:"semantics"`
}

func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}
	return "unknown"
}
