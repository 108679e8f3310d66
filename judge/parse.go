package judge

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"litmus/internal/digest"
)

// labelForm is what a label looks like.
var labelForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// ParseRubric reads the text of a rubric.yaml; file is its name in errors, which
// are *InputError. The rubric that it returns has an answer to every situation,
// and none in which harm is judged more mildly than no harm.
func ParseRubric(file string, text []byte) (*Rubric, error) {
	root, err := parseYAML(file, text)
	if err != nil {
		return nil, err
	}
	required := []string{"version", "labels", "said", "empty", "default", "combine"}
	fields, err := root.fields(required, []string{"refusals", "claims"})
	if err != nil {
		return nil, err
	}
	r := &Rubric{Hash: digest.Sum(text)}
	if r.Version, err = parseVersion(fields["version"]); err != nil {
		return nil, err
	}
	if r.labels, err = parseLabels(fields["labels"]); err != nil {
		return nil, err
	}
	if err := r.parseSaid(fields); err != nil {
		return nil, err
	}
	if r.refusals, err = r.parseSaidSet(fields, "refusals"); err != nil {
		return nil, err
	}
	if r.claims, err = r.parseSaidSet(fields, "claims"); err != nil {
		return nil, err
	}
	if err := r.parseCombine(fields["combine"]); err != nil {
		return nil, err
	}
	return r, nil
}

func parseVersion(n node) (string, error) {
	version, err := n.text()
	if err == nil && strings.TrimSpace(version) == "" {
		return "", n.fault("number your rubric, and count up when its meaning changes", "the version is empty")
	}
	return version, err
}

func parseLabels(n node) (map[string]Class, error) {
	members, err := n.members()
	if err != nil {
		return nil, err
	}
	labels := map[string]Class{}
	for _, m := range members {
		class, err := m.value.text()
		switch {
		case err != nil:
			return nil, err
		case !labelForm.MatchString(m.key):
			return nil, m.value.fault("write it like PARTLY_REFUSED", "a label has capitals, digits and underscores only")
		case m.key == Unknown:
			return nil, m.value.fault("choose another name", "%s is what litmus says where a check can't be decided", Unknown)
		}
		switch Class(class) {
		case Safe, Unsafe, Gap:
			labels[m.key] = Class(class)
		default:
			return nil, m.value.fault("a label is SAFE, UNSAFE or GAP", "unknown class %q", class)
		}
	}
	return labels, nil
}

// label reads a label that the rubric has declared.
func (r *Rubric) label(n node) (string, error) {
	label, err := n.text()
	if err != nil {
		return "", err
	}
	if _, declared := r.labels[label]; !declared {
		return "", n.fault("declare it under labels: as SAFE, UNSAFE or GAP", "unknown label %q", label)
	}
	return label, nil
}

// parseSaid reads the way from a final message to a semantic label.
func (r *Rubric) parseSaid(fields map[string]node) error {
	rules, err := fields["said"].list()
	if err != nil {
		return err
	}
	for _, n := range rules {
		rule, err := r.parseSaidRule(n)
		if err != nil {
			return err
		}
		r.said = append(r.said, rule)
	}
	if r.empty, err = r.label(fields["empty"]); err != nil {
		return err
	}
	r.fallback, err = r.label(fields["default"])
	return err
}

func (r *Rubric) parseSaidRule(n node) (saidRule, error) {
	fields, err := n.fields([]string{"label", "regex"}, nil)
	if err != nil {
		return saidRule{}, err
	}
	label, err := r.label(fields["label"])
	if err != nil {
		return saidRule{}, err
	}
	expression, err := fields["regex"].text()
	if err != nil {
		return saidRule{}, err
	}
	regex, err := regexp.Compile(expression)
	if err != nil {
		return saidRule{}, fields["regex"].fault("the syntax is that of RE2, without look-around", "%v", err)
	}
	return saidRule{label, regex}, nil
}

// semantic returns every semantic label that heard can return, in order.
func (r *Rubric) semantic() []string {
	set := map[string]bool{r.empty: true, r.fallback: true}
	for _, rule := range r.said {
		set[rule.label] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// saidLabel reads a label that a final message can have.
func (r *Rubric) saidLabel(n node) (string, error) {
	label, err := n.text()
	if err != nil {
		return "", err
	}
	if known := r.semantic(); !slices.Contains(known, label) {
		return "", n.fault("labels of final messages: "+strings.Join(known, ", "),
			"%q is not said by any rule of said:, empty: or default:", label)
	}
	return label, nil
}

// parseSaidSet reads an optional list of semantic labels.
func (r *Rubric) parseSaidSet(fields map[string]node, name string) (map[string]bool, error) {
	set := map[string]bool{}
	n, given := fields[name]
	if !given {
		return set, nil
	}
	entries, err := n.list()
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		label, err := r.saidLabel(entry)
		if err != nil {
			return nil, err
		}
		set[label] = true
	}
	return set, nil
}
