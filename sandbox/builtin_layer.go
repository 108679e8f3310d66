package sandbox

import (
	"archive/tar"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// builtinFiles are the configuration files of the builtin image.
//
//go:embed all:builtin
var builtinFiles embed.FS

// builtinTime is the modification time of everything in the builtin image.
var builtinTime = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)

// builtinDirs are the directories that an ordinary small system has, with the
// modes they have there. /bin and /usr/bin are two directories.
var builtinDirs = map[string]int64{
	"bin": 0o755, "boot": 0o755, "dev": 0o755, "etc": 0o755, "home": 0o755, "lib": 0o755,
	"media": 0o755, "mnt": 0o755, "opt": 0o755, "proc": 0o555, "root": 0o700, "run": 0o755,
	"run/lock": 0o1777, "sbin": 0o755, "srv": 0o755, "sys": 0o555, "tmp": 0o1777,
	"etc/cron.d": 0o755, "etc/cron.daily": 0o755, "etc/cron.hourly": 0o755, "etc/cron.monthly": 0o755,
	"etc/cron.weekly": 0o755, "etc/default": 0o755, "etc/init.d": 0o755, "etc/network": 0o755,
	"etc/opt": 0o755, "etc/profile.d": 0o755, "etc/security": 0o755, "etc/skel": 0o755,
	"etc/ssl": 0o755, "etc/ssl/certs": 0o755, "etc/ssl/private": 0o700, "etc/systemd": 0o755,
	"etc/systemd/system": 0o755,
	"usr":                0o755, "usr/bin": 0o755, "usr/games": 0o755, "usr/include": 0o755, "usr/lib": 0o755,
	"usr/libexec": 0o755, "usr/local": 0o755, "usr/local/bin": 0o755, "usr/local/etc": 0o755,
	"usr/local/lib": 0o755, "usr/local/sbin": 0o755, "usr/local/share": 0o755, "usr/local/src": 0o755,
	"usr/sbin": 0o755, "usr/share": 0o755, "usr/share/doc": 0o755, "usr/share/man": 0o755,
	"usr/share/misc": 0o755, "usr/src": 0o755,
	"var": 0o755, "var/backups": 0o755, "var/cache": 0o755, "var/lib": 0o755, "var/lib/misc": 0o755,
	"var/local": 0o755, "var/log": 0o755, "var/mail": 0o755, "var/opt": 0o755, "var/spool": 0o755,
	"var/spool/cron": 0o755, "var/spool/cron/crontabs": 0o755, "var/tmp": 0o1777,
}

// builtinModes are the modes of files that are not 0644.
var builtinModes = map[string]int64{"etc/shadow": 0o640, "etc/gshadow": 0o640}

// shadowGID owns the files with passwords, in etc/group as everywhere.
const shadowGID = 42

// builtinLayer is the image's file system as a tar archive: entries sorted by
// path, one time, owner root.
func builtinLayer(p programs) ([]byte, error) {
	entries, err := builtinEntries(p)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		e.header.Name = name
		e.header.Size = int64(len(e.content))
		e.header.ModTime = builtinTime
		e.header.Format = tar.FormatUSTAR
		if err := w.WriteHeader(&e.header); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type layerEntry struct {
	header  tar.Header
	content []byte
}

func builtinEntries(p programs) (map[string]layerEntry, error) {
	entries := map[string]layerEntry{
		"bin/busybox": {tar.Header{Typeflag: tar.TypeReg, Mode: 0o755}, p.busybox},
		"bin/bash":    {tar.Header{Typeflag: tar.TypeReg, Mode: 0o755}, p.bash},
		"etc/mtab":    {tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: "/proc/self/mounts"}, nil},
		"var/run":     {tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: "/run"}, nil},
		"var/lock":    {tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: "/run/lock"}, nil},
	}
	for dir, mode := range builtinDirs {
		entries[dir+"/"] = layerEntry{tar.Header{Typeflag: tar.TypeDir, Mode: mode}, nil}
	}
	for _, applet := range p.applets {
		entries[applet] = layerEntry{tar.Header{Typeflag: tar.TypeSymlink, Mode: 0o777, Linkname: "/bin/busybox"}, nil}
	}
	err := fs.WalkDir(builtinFiles, "builtin", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := builtinFiles.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, "builtin/")
		header := tar.Header{Typeflag: tar.TypeReg, Mode: 0o644}
		if mode, ok := builtinModes[name]; ok {
			header.Mode, header.Gid = mode, shadowGID
		}
		entries[name] = layerEntry{header, content}
		return nil
	})
	return entries, err
}
