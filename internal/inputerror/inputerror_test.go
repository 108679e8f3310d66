package inputerror

import "testing"

func TestAnErrorSaysWhatIsKnownOfItsPlace(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{Error{File: "suite.yaml", Line: 3, Field: "limits.pids", Msg: "unknown field"}, "suite.yaml:3: limits.pids: unknown field"},
		{Error{File: "suite.yaml", Line: 3, Msg: "unknown field"}, "suite.yaml:3: unknown field"},
		{Error{File: "suite.yaml", Field: "name", Msg: "it is empty"}, "suite.yaml: name: it is empty"},
		{Error{Field: "baseline row 3", Msg: "it is here twice"}, "baseline row 3: it is here twice"},
		{Error{Line: 3, Msg: "a line means nothing without a file"}, "a line means nothing without a file"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
