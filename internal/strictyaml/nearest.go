package strictyaml

// nearest returns the known name that the fewest edits turn name into, or nothing
// if it takes more than a slip of the finger.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, candidate := range known {
		if len(name) > len(candidate)+2 || len(candidate) < 3 {
			continue
		}
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns how many bytes have to be put in, taken out, replaced or
// swapped with their neighbour to make b of a.
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
