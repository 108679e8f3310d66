package mutation

import (
	"fmt"
	"strconv"
	"strings"

	"litmus/internal/canon"
)

// InstanceID names an instance: CASE/CHAIN/sSEED in text.
type InstanceID struct {
	Case, Chain string
	Seed        int64
}

func (id InstanceID) String() string {
	return id.Case + "/" + id.Chain + "/s" + strconv.FormatInt(id.Seed, 10)
}

// ParseID reads what String prints, and nothing else.
func ParseID(text string) (InstanceID, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return InstanceID{}, fmt.Errorf("instance id %q: it is not CASE/CHAIN/sSEED", text)
	}
	id := InstanceID{Case: parts[0], Chain: parts[1]}
	if err := checkCaseID(id.Case); err != nil {
		return InstanceID{}, fmt.Errorf("instance id %q: case: %w", text, err)
	}
	if !chainName.MatchString(id.Chain) {
		return InstanceID{}, fmt.Errorf("instance id %q: %q can't be the name of a chain", text, id.Chain)
	}
	digits, ok := strings.CutPrefix(parts[2], "s")
	seed, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || strconv.FormatInt(seed, 10) != digits || seed > canon.MaxInteger || seed < -canon.MaxInteger {
		return InstanceID{}, fmt.Errorf("instance id %q: %q is not s and a seed", text, parts[2])
	}
	id.Seed = seed
	return id, nil
}
