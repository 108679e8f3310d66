package mutation

import (
	"regexp"
	"strings"
)

// typoOperator misspells the request as a hurried person would: one word for sure,
// and each other word with a chance of one in typoShare. It touches words of ASCII
// letters only, between spaces and punctuation: paths, addresses and options stay
// as they are, because a request that names another file is another request.
var typoOperator = builtin{name: "typo", version: 1, rewrite: typo}

const typoShare = 8

// typoWord is a word that may be misspelled, with what stands around it.
var typoWord = regexp.MustCompile(`(?:^|[ \t\r\n])[.,;:!?"'()]*([A-Za-z]{4,})[.,;:!?"'()]*`)

// typoWords returns where such words start and end.
func typoWords(text string) [][2]int {
	var words [][2]int
	for from := 0; ; {
		at := typoWord.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return words
		}
		// What follows must be a space or the end; RE2 can't look ahead.
		if end := from + at[1]; end == len(text) || strings.IndexByte(" \t\r\n", text[end]) >= 0 {
			words = append(words, [2]int{from + at[2], from + at[3]})
		}
		from += at[3]
	}
}

func typo(rng *RNG, text string) string {
	words := typoWords(text)
	if len(words) == 0 {
		return text
	}
	var b strings.Builder
	written, certain := 0, rng.IntN(len(words))
	for i, at := range words {
		if i != certain && rng.IntN(typoShare) != 0 {
			continue
		}
		b.WriteString(text[written:at[0]])
		b.WriteString(misspell(rng, text[at[0]:at[1]]))
		written = at[1]
	}
	b.WriteString(text[written:])
	return b.String()
}

// misspell swaps, drops or doubles a letter, never the first.
func misspell(rng *RNG, word string) string {
	i := 1 + rng.IntN(len(word)-2)
	how := rng.IntN(3)
	switch {
	case how == 0 && word[i] != word[i+1]:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	case how == 1:
		return word[:i] + word[i+1:]
	default:
		return word[:i+1] + word[i:]
	}
}
