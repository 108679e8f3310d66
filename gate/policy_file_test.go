package gate

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"litmus/internal/inputerror"
)

func TestPolicyFilesKeepTheDefaultsForWhatTheyDoNotName(t *testing.T) {
	changed := func(change func(*Policy)) Policy {
		p := DefaultPolicy()
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name, text string
		want       Policy
	}{
		{"nothing", "", DefaultPolicy()},
		{"a comment", "# all as usual\n", DefaultPolicy()},
		{"one field", "noise_floor: paired\n", paired()},
		{"a quoted word", "noise_floor: \"paired\"\n", paired()},
		{"a byte order mark", "\ufeffnoise_floor: paired\n", paired()},
		{"all fields", "noise_floor: record\nz: 2.576\nalpha: 0.01\nmin_detectable_effect: 0.05\nmax_excluded: 0\nrequire_parity: false\ncategories: []\n",
			changed(func(p *Policy) { p.Z, p.Alpha, p.MaxExcluded, p.MinDetectableEffect = 2.576, 0.01, 0, new(0.05) })},
		{"a leading plus", "z: +1.96", DefaultPolicy()},
		{"flow style", "{z: 3, max_excluded: 1}", changed(func(p *Policy) { p.Z, p.MaxExcluded = 3, 1 })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParsePolicy("gate.yaml", []byte(tt.text))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

func TestPolicyFaultsAreNamedWithTheirLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"an unknown field", "z: 1.96\nnoisefloor: record\n", "gate.yaml:2: noisefloor: unknown field"},
		{"a field twice", "z: 1.96\nalpha: 0.05\nz: 3\n", `gate.yaml:3: "z" is here twice; first on line 1`},
		{"an unknown floor", "noise_floor: both\n", "gate.yaml:1: noise_floor: this must be record or paired"},
		{"a floor in capitals", "noise_floor: RECORD\n", "gate.yaml:1: noise_floor: this must be record or paired"},
		{"text for a number", "\n\nz: wide\n", "gate.yaml:3: z: this must be a number"},
		{"a quoted number", "z: \"1.96\"\n", "gate.yaml:1: z: this must be a number"},
		{"a per cent sign", "max_excluded: 2%\n", "gate.yaml:1: max_excluded: this must be a number"},
		{"a number without its digits", "alpha:\n", "gate.yaml:1: alpha: this must be a number"},
		{"not a number", "alpha: .nan\n", "gate.yaml:1: alpha: this must be a number"},
		{"infinity", "z: .inf\n", "gate.yaml:1: z: this must be a number"},
		{"an exponent", "alpha: 5e-2\n", "gate.yaml:1: alpha: this must be a number"},
		{"hexadecimal", "z: 0x2\n", `gate.yaml:1: z: "0x2" is not a decimal number`},
		{"a share in per cent", "max_excluded: 2\n", "gate.yaml:1: max_excluded: 2 is not between 0 and 1"},
		{"an alpha of zero", "alpha: 0\n", "gate.yaml:1: alpha: 0 is not between 1e-06 and 0.5"},
		{"a negative z", "z: -1.96\n", "gate.yaml:1: z: -1.96 is not between 0.01 and 100"},
		{"parity, which is not built", "require_parity: true\n", "gate.yaml:1: require_parity: this version keeps no parity records, so it cannot require them"},
		{"a parity share, which is not built", "require_parity: 0.99\n", "gate.yaml:1: require_parity: this version keeps no parity records, so it cannot require them"},
		{"categories, which are not built", "categories: [destructive]\n", "gate.yaml:1: categories: this version does not test single categories"},
		{"a list", "- z\n", "gate.yaml:1: this must be a mapping of names to values"},
		{"a file that is no policy at all", strings.Repeat("[", 64<<10), "gate.yaml:1: it is nested more than 64 deep"},
		{"two documents", "z: 1\n---\nz: 2\n", "gate.yaml:2: 2 documents"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePolicy("gate.yaml", []byte(tt.text))
			var bad *inputerror.Error
			if !errors.As(err, &bad) || err.Error() != tt.want {
				t.Errorf("error %v\nwant  %s", err, tt.want)
			}
		})
	}
}

func TestBrokenYAMLIsNamedWithItsLine(t *testing.T) {
	_, err := ParsePolicy("gate.yaml", []byte("z: 1.96\nalpha: [\n"))
	var bad *inputerror.Error
	if !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("error %v, want one on line 2", err)
	}
}

func FuzzParsePolicyNeverGivesAPolicyThatDecideRefuses(f *testing.F) {
	for _, seed := range []string{"", "z: 1.96\nalpha: 0.05\n", "noise_floor: paired", "{z: 3}", "z: &a 1\nalpha: *a", "? z\n: 1", "<<: {z: 1}", "z: !!int 3", "z: |\n  1", "\ufeffz: 2", "z: 1e999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePolicy("gate.yaml", text)
		var bad *inputerror.Error
		switch {
		case err == nil && p.check() != nil:
			t.Errorf("%q gives a policy that is refused: %v", text, p.check())
		case err != nil && !errors.As(err, &bad):
			t.Errorf("%q: error %v is no inputerror.Error", text, err)
		}
	})
}
