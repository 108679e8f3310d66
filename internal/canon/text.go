package canon

import (
	"errors"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Text returns b as a valid UTF-8 string without control characters, from which
// Bytes gets exactly b back. Well-formed UTF-8 stays as it is, a backslash
// becomes two, and each C0 control, DEL and byte of ill-formed UTF-8 becomes
// \xNN with lower-case digits. Different bytes have different texts.
func Text(b []byte) string {
	var text strings.Builder
	text.Grow(len(b))
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '\\':
			text.WriteString(`\\`)
		case r < ' ', r == 0x7f, r == utf8.RuneError && size == 1:
			text.WriteString(`\x`)
			text.WriteByte(hexDigits[b[0]>>4])
			text.WriteByte(hexDigits[b[0]&0xf])
		default:
			text.Write(b[:size])
		}
		b = b[size:]
	}
	return text.String()
}

// Bytes undoes Text. It takes nothing that Text does not print, so a byte
// string has one text only.
func Bytes(text string) ([]byte, error) {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		switch {
		case text[i] != '\\':
			b = append(b, text[i])
			i++
		case strings.HasPrefix(text[i:], `\\`):
			b = append(b, '\\')
			i += 2
		case len(text)-i >= 4 && text[i+1] == 'x':
			high, low := strings.IndexByte(hexDigits, text[i+2]), strings.IndexByte(hexDigits, text[i+3])
			if high < 0 || low < 0 {
				return nil, &Error{i, `\x is not followed by two lower-case hex digits`}
			}
			b = append(b, byte(high<<4|low))
			i += 4
		default:
			return nil, &Error{i, `a backslash is not followed by a backslash or by xNN`}
		}
	}
	if Text(b) != text {
		return nil, errors.New("not the text form of any bytes: something is escaped that need not be, or not escaped that must be")
	}
	return b, nil
}
