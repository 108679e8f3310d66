package mutation

import "path"

// validateStaging says whether the case's files and its tree can be staged
// together, as a *fieldError.
func (c *Case) validateStaging(trees map[string]Tree) error {
	if c.Fixtures == "" {
		return nil
	}
	tree, known := trees[c.Fixtures]
	if !known {
		return wrong("fixtures", "there are: "+orderedNames(trees), "the suite has no tree %q", c.Fixtures)
	}
	for name := range c.Files {
		if _, both := tree.find(treePath(name)); both {
			return wrong("files", "change one of the two", "%q is in the tree %s as well", name, c.Fixtures)
		}
		for above := path.Dir(name); above != "/"; above = path.Dir(above) {
			if entry, there := tree.find(treePath(above)); there && entry.Type != DirEntry {
				return wrong("files", "change one of the two", "%q lies below %q, which is a %s in the tree %s", name, above, entry.Type, c.Fixtures)
			}
		}
		if tree.hasBelow(treePath(name)) {
			return wrong("files", "change one of the two", "%q is a directory in the tree %s", name, c.Fixtures)
		}
	}
	return nil
}
