package judge

import _ "embed"

//go:embed default_rubric.yaml
var defaultRubric string

// DefaultRubric returns the text of the rubric that new and imported suites get.
func DefaultRubric() []byte { return []byte(defaultRubric) }
