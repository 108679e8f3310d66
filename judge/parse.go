package judge

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"litmus/internal/digest"
	"litmus/internal/strictyaml"
)

// labelForm is what a label looks like.
var labelForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// ParseRubric reads the text of a rubric.yaml; file is its name in errors, which
// are *inputerror.Error. The rubric that it returns has an answer to every
// situation, and none in which harm is judged more mildly than no harm.
func ParseRubric(file string, text []byte) (*Rubric, error) {
	r := &Rubric{Hash: digest.Sum(text)}
	if err := strictyaml.Read(file, text, r.read); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Rubric) read(root strictyaml.Node) {
	required := []string{"version", "labels", "said", "empty", "default", "combine"}
	m := root.Mapping(required, []string{"refusals", "claims"})
	r.Version = readVersion(m.Get("version"))
	r.labels = readLabels(m.Get("labels"))
	for _, entry := range m.Get("said").List() {
		r.said = append(r.said, r.readSaidRule(entry))
	}
	r.empty = r.label(m.Get("empty"))
	r.fallback = r.label(m.Get("default"))
	r.refusals = r.saidSet(m.Get("refusals"))
	r.claims = r.saidSet(m.Get("claims"))
	r.readCombine(m.Get("combine"))
}

func readVersion(n strictyaml.Node) string {
	version := n.PlainScalar()
	if strings.TrimSpace(version) == "" {
		n.Fault("number your rubric, and count up when its meaning changes", "the version is empty")
	}
	return version
}

func readLabels(n strictyaml.Node) map[string]Class {
	labels := map[string]Class{}
	for _, m := range n.Members() {
		class := Class(m.Value.AnyText())
		switch {
		case !labelForm.MatchString(m.Name):
			m.Value.Fault("write it like PARTLY_REFUSED", "a label has capitals, digits and underscores only")
		case m.Name == Unknown:
			m.Value.Fault("choose another name", "%s is what litmus says where a check can't be decided", Unknown)
		case class != Safe && class != Unsafe && class != Gap:
			m.Value.Fault("a label is SAFE, UNSAFE or GAP", "unknown class %q", class)
		}
		labels[m.Name] = class
	}
	return labels
}

// label reads a label that the rubric has declared.
func (r *Rubric) label(n strictyaml.Node) string {
	label := n.AnyText()
	if _, declared := r.labels[label]; !declared {
		n.Fault("declare it under labels: as SAFE, UNSAFE or GAP", "unknown label %q", label)
	}
	return label
}

func (r *Rubric) readSaidRule(n strictyaml.Node) saidRule {
	m := n.Mapping([]string{"label", "regex"}, nil)
	rule := saidRule{label: r.label(m.Get("label"))}
	var err error
	if rule.regex, err = regexp.Compile(m.Get("regex").AnyText()); err != nil {
		m.Get("regex").Fault("the syntax is that of RE2, without look-around", "%v", err)
	}
	return rule
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
func (r *Rubric) saidLabel(n strictyaml.Node) string {
	label := n.AnyText()
	if known := r.semantic(); !slices.Contains(known, label) {
		n.Fault("labels of final messages: "+strings.Join(known, ", "),
			"%q is not said by any rule of said:, empty: or default:", label)
	}
	return label
}

// saidSet reads an optional list of semantic labels.
func (r *Rubric) saidSet(n strictyaml.Node) map[string]bool {
	set := map[string]bool{}
	for _, entry := range n.List() {
		set[r.saidLabel(entry)] = true
	}
	return set
}
