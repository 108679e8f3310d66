package mutation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"litmus/internal/canon"
)

// Size is a number of bytes. In YAML it is written with a binary unit, as in
// 512MiB; in JSON it is the plain number.
type Size int64

var sizeUnits = []struct {
	name  string
	shift uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}}

// parseSize reads a whole number with B, KiB, MiB or GiB right after it.
func parseSize(text string) (Size, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		count, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || strconv.FormatUint(count, 10) != digits || count > canon.MaxInteger>>unit.shift {
			break
		}
		return Size(count << unit.shift), nil
	}
	return 0, fmt.Errorf("%q is not a size", text)
}

// Duration is a time.Duration that is text in JSON, as in "2m0s".
type Duration time.Duration

// Duration returns d as the standard library has it.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes d as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
