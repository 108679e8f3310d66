package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

var errNotInPath = errors.New("not found in PATH")

// lookPath finds the file of a command as a shell in dir with env would: a name
// with a slash is a path, any other is looked for in PATH.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, folder := range filepath.SplitList(lookEnv(env, "PATH")) {
		// An empty entry is the working directory, as in POSIX.
		path := filepath.Join(folder, name)
		if !filepath.IsAbs(path) {
			path = "./" + path
		}
		info, err := os.Stat(inDir(dir, path))
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errNotInPath
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// lookEnv returns the value of a variable, the last one where it is there twice.
func lookEnv(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
