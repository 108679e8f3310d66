package gateway

import "bytes"

// events returns the data of each event of a server-sent event stream, in order
// (WHATWG HTML, section 9.2.6): lines end in LF, CRLF or CR, comments and other
// fields are passed over, the data lines of one event are joined with LF.
// Unlike the standard it also yields an event that the end of the stream leaves
// without its empty line: clients do, and some servers end in "data: [DONE]".
func events(stream []byte) [][]byte {
	stream = bytes.TrimPrefix(stream, []byte("\ufeff"))
	var list [][]byte
	var data []byte
	dispatch := func() {
		if data != nil {
			list = append(list, data[:len(data)-1])
			data = nil
		}
	}
	for len(stream) > 0 {
		var line []byte
		line, stream = cutLine(stream)
		if len(line) == 0 {
			dispatch()
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		if string(field) == "data" {
			data = append(append(data, bytes.TrimPrefix(value, []byte{' '})...), '\n')
		}
	}
	dispatch()
	return list
}

// cutLine returns the first line of b without its end, and the rest.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil
	}
	if bytes.HasPrefix(b[i:], []byte("\r\n")) {
		return b[:i], b[i+2:]
	}
	return b[:i], b[i+1:]
}
