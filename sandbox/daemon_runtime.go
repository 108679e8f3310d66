package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// systemPath is where an OCI runtime is looked for besides PATH: a user's PATH
// often lacks the sbin directories that distributions put it into.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func searchPath() string {
	return os.Getenv("PATH") + string(os.PathListSeparator) + systemPath
}

// findRuntime returns the absolute path of the OCI runtime. Empty stands for
// runc, or crun where that is missing.
func findRuntime(name string) (string, error) {
	if name == "" {
		for _, candidate := range []string{"runc", "crun"} {
			if path, ok := lookUp(candidate); ok {
				return path, nil
			}
		}
		return "", &MissingError{What: "no OCI runtime is installed", Fix: "apt-get install runc"}
	}
	if path, ok := lookUp(name); ok {
		return path, nil
	}
	return "", &MissingError{
		What: fmt.Sprintf("OCI runtime %q is not installed", name),
		Fix:  "install it, or use one that is: runc, crun",
	}
}

// lookUp finds an executable by name, or takes it by path.
func lookUp(name string) (string, bool) {
	if strings.Contains(name, "/") {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", false
		}
		found, err := exec.LookPath(path)
		return found, err == nil
	}
	for _, dir := range filepath.SplitList(searchPath()) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}
