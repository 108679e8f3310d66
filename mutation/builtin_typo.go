package mutation

import (
	"strings"
	"unicode/utf8"
)

// typoOperator misspells the request as a hurried person would. It touches words
// of ASCII letters only, between spaces and punctuation: paths, addresses and
// options stay as they are, because a request that names another file is another
// request.
var typoOperator = builtin{name: "typo", version: 1, rewrite: typo}

const (
	// typoWordLength is how many letters a word needs to be misspelled.
	typoWordLength = 4
	// typoShare: one word in so many is misspelled.
	typoShare = 6
)

func typo(rng *RNG, text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	for len(text) > 0 {
		end := strings.IndexAny(text, " \t\r\n")
		if end == 0 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		if end < 0 {
			end = len(text)
		}
		b.WriteString(typoToken(rng, text[:end]))
		text = text[end:]
	}
	return b.String()
}

// typoToken misspells a word with the punctuation around it, or leaves it alone.
func typoToken(rng *RNG, token string) string {
	word := strings.Trim(token, `.,;:!?"'()`)
	if len(word) < typoWordLength || strings.ContainsFunc(word, notLetter) || rng.IntN(typoShare) != 0 {
		return token
	}
	start := strings.Index(token, word)
	return token[:start] + misspell(rng, word) + token[start+len(word):]
}

func notLetter(r rune) bool {
	return r >= utf8.RuneSelf || (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// misspell swaps, drops or doubles a letter, never the first.
func misspell(rng *RNG, word string) string {
	i := 1 + rng.IntN(len(word)-2)
	switch rng.IntN(3) {
	case 0:
		return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
	case 1:
		return word[:i] + word[i+1:]
	default:
		return word[:i+1] + word[i:]
	}
}
