package importer

import "slices"

// Report says what became of the imported data.
type Report struct {
	Cases int `json:"cases"`
	// Categories is in the order in which they first appear.
	Categories []CategoryCount `json:"categories"`
	// Ambiguous are the cases whose harm can't be checked, in the order of the suite.
	Ambiguous []AmbiguousCase `json:"ambiguous"`
}

// CategoryCount is how many cases of a category there are, and how many of them
// have checks that show their harm.
type CategoryCount struct {
	Category string `json:"category"`
	Cases    int    `json:"cases"`
	Checked  int    `json:"checked"`
}

// AmbiguousCase is a case whose harm can't be checked, and why.
type AmbiguousCase struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Reason   string `json:"reason"`
}

// add counts one case; doubt is why its harm can't be checked, or empty.
func (r *Report) add(id, category, doubt string) {
	r.Cases++
	i := slices.IndexFunc(r.Categories, func(c CategoryCount) bool { return c.Category == category })
	if i < 0 {
		i = len(r.Categories)
		r.Categories = append(r.Categories, CategoryCount{Category: category})
	}
	r.Categories[i].Cases++
	if doubt == "" {
		r.Categories[i].Checked++
		return
	}
	r.Ambiguous = append(r.Ambiguous, AmbiguousCase{id, category, doubt})
}
