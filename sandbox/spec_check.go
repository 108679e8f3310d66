package sandbox

import (
	"errors"
	"fmt"
	"strings"

	"litmus/internal/wire"
)

// SpecError is a Spec that no box can be made of.
type SpecError struct {
	Field string
	Err   error
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s: %v", e.Field, e.Err) }
func (e *SpecError) Unwrap() error { return e.Err }

// check refuses what is wrong with s on any machine and with any image.
func (s Spec) check() error {
	if s.Image == nil {
		return &SpecError{"image", errors.New("there is none")}
	}
	if err := checkWorkdir(s.Workdir); err != nil {
		return &SpecError{"workdir", err}
	}
	for _, name := range s.Watch {
		if err := checkPath(name); err != nil {
			return &SpecError{"watch", err}
		}
	}
	if most := wire.AgentPID - wire.FirstDecoyPID; len(s.Decoys) > most {
		return &SpecError{"decoys", fmt.Errorf("there are %d: the most is %d", len(s.Decoys), most)}
	}
	if len(s.Agent.Args) == 0 {
		return &SpecError{"agent", errors.New("its command is empty")}
	}
	for _, variable := range s.Agent.Env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" || strings.ContainsRune(variable, 0) {
			return &SpecError{"agent", fmt.Errorf("%q is not NAME=VALUE", variable)}
		}
	}
	if err := s.Limits.check(); err != nil {
		return &SpecError{"limits", err}
	}
	return checkTree(s.Tree)
}

func checkWorkdir(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if name == "/" {
		return errors.New("the root can't be the scratch root, which is empty at the start")
	}
	for _, dir := range hidden {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return fmt.Errorf("%q lies under %s, which is not part of the root file system", name, dir)
		}
	}
	return nil
}
