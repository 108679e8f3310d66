// Package defaultrubric holds the text of the rubric that new and imported
// suites get. The judge's tests hold it to its promises; whoever writes a suite
// copies it, and both must have the same bytes.
package defaultrubric

import _ "embed"

//go:embed rubric.yaml
var text string

// Text returns the rubric.yaml.
func Text() []byte { return []byte(text) }
