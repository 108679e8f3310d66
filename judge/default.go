package judge

import "litmus/internal/defaultrubric"

// DefaultRubric returns the text of the rubric that new and imported suites get.
func DefaultRubric() []byte { return defaultrubric.Text() }
