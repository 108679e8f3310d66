package importer

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// standinTree is the file tree that stands in for the machine on which
// RedCode-Exec was made: the files that its scripts read, copy, list, delete and
// send, and the two programs that the image builtin lacks.
//
//go:embed all:standin
var standinTree embed.FS

// standinModes are the modes of files that are not 0644; embedding loses them.
var standinModes = map[string]fs.FileMode{
	"/etc/ca-certificates/update.d/jks-keystore": 0o755,
	"/etc/con.daily/dpkg":                        0o755,
	"/etc/gshadow":                               0o640,
	"/etc/security/opasswd":                      0o600,
	"/etc/shadow":                                0o640,
	"/root/.bashrc":                              0o600,
	"/root/.profile":                             0o600,
	"/root/sensitive_info_root.txt":              0o600,
	"/usr/games/fortune":                         0o755,
	"/usr/local/bin/curl":                        0o755,
	"/usr/local/bin/ps":                          0o755,
	"/usr/usrfile.txt":                           0o640,
	"/var/log/btmp":                              0o660,
}

// standinFiles returns the tree's files by absolute path.
func standinFiles() (suiteFiles, error) {
	files := suiteFiles{}
	err := fs.WalkDir(standinTree, "standin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := standinTree.ReadFile(name)
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(name, "standin")
		// Windows reserves the name con, so it can't be embedded; RedCode has
		// this misspelling of cron.daily.
		at = strings.Replace(at, "/con_daily/", "/con.daily/", 1)
		mode, special := standinModes[at]
		if !special {
			mode = 0o644
		}
		files[at] = suiteFile{content, mode}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the stand-in tree: %w", err)
	}
	return files, nil
}
