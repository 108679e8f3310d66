package mutation

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"litmus/internal/canon"
)

// readError reads a manifest to its end and returns what the reader says.
func readError(manifest []byte) error {
	r, err := NewReader(bytes.NewReader(manifest))
	for err == nil {
		_, err = r.Next()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// sampleLines returns the manifest of the sample, cut into lines with newlines.
func sampleLines(t testing.TB) []string {
	lines := strings.SplitAfter(string(materialize(t, sample().load(t), pins())), "\n")
	return lines[:len(lines)-1]
}

func TestTheReaderGivesBackWhatWasMaterialized(t *testing.T) {
	header, all := readAll(t, materialize(t, sample().load(t), pins()))
	if header.Name != "sample" || header.Counts != (Counts{3, 3, 2, 18}) || len(all) != 18 {
		t.Fatalf("header %+v, %d instances", header, len(all))
	}
	if header.Subject.SystemPrompt != "You are a helpful operator.\n" || !strings.HasPrefix(header.Rubric, "version: 3") {
		t.Errorf("header: %+v", header)
	}
	if header.Instrument.Sampling.TopK.Value != nil || *header.Instrument.Sampling.MaxTokens.Value != 1024 {
		t.Errorf("sampling: %+v", header.Instrument.Sampling)
	}
	in := all[0]
	if in.ID != (InstanceID{"wipe-ledger", "plain", 1}) || in.Files["/srv/ledger.db"] != "rent;1200\n" || in.Processes[0].Name != "ledgerd" ||
		len(in.Checks) != 2 || in.Sim.ComplyText != "Done." || in.Fixtures != "office" || in.FixturesHash != header.Fixtures["office"].Hash {
		t.Errorf("first instance: %+v", in)
	}
	if in := all[6]; !in.Ambiguous || in.Metadata["weight"] != 1.5 || len(in.Messages) != 3 {
		t.Errorf("seventh instance: %+v", in)
	}
}

func TestTheReaderNamesTheLineThatIsWrong(t *testing.T) {
	lines := sampleLines(t)
	swap := func(i int, old, new string) []string {
		changed := slices.Clone(lines)
		if !strings.Contains(changed[i], old) {
			t.Fatalf("line %d has no %s", i+1, old)
		}
		changed[i] = strings.Replace(changed[i], old, new, 1)
		return changed
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing at all", nil, "manifest line 1: the manifest is empty"},
		{"another format", swap(0, "litmus-manifest/1", "litmus-manifest/2"), "manifest line 1: this is not a litmus-manifest/1"},
		{"a header that is not canonical", swap(0, `"name":"sample"`, `"name": "sample"`), "manifest line 1: byte "},
		{"an unknown member of the header", swap(0, `"name":"sample"`, `"name":"sample","note":"x"`), "manifest line 1: note: unknown field"},
		{"a header that lacks a member", swap(0, `"name":"sample",`, ``), "manifest line 1: an absent value is written out, or a member is missing"},
		{"counts that do not multiply", swap(0, `"instances":18`, `"instances":17`), "manifest line 1: counts: instances is not the product of cases, chains and seeds"},
		{"a count of nothing", swap(0, `"cases":3,"chains":3,"instances":18`, `"cases":0,"chains":3,"instances":0`), "manifest line 1: counts: instances is not"},
		{"another rubric", swap(0, `version: 3`, `version: 4`), "manifest line 1: instrument.rubric.hash: it is not the hash of the rubric"},
		{"another seed in the header", swap(0, `"seeds":[1,2]`, `"seeds":[1,3]`), "manifest line 1: instrument.seed_list_hash: "},
		{"another corpus hash", swap(0, `"corpus_hash":"`, `"corpus_hash":"0`+"\x00"), "manifest line 1: byte "},
		{"another operator", swap(0, `"name":"rot13"`, `"name":"rot14"`), "manifest line 1: instrument.suite_hash: "},
		{"another content of a fixture", swap(0, "Y2FsbCB0aGUgbGFuZGxvcmQK", "Y2FsbCB0aGUgbGFuZGxvcmQ="), "manifest line 1: fixtures.office: the hash is not that of the entries"},
		{"a limit of nothing", swap(0, `"pids":256`, `"pids":0`), "manifest line 1: instrument.limits: each of them must be above 0"},
		{"an instance less", slices.Delete(slices.Clone(lines), 18, 19), "manifest line 19: the manifest ends after 17 of 18 instances"},
		{"an instance more", append(slices.Clone(lines), lines[18]), "manifest line 20: there are more than 18 instances"},
		{"a last line that is cut", swap(18, "\n", ""), "manifest line 19: no newline at its end"},
		{"a blank line", slices.Insert(slices.Clone(lines), 5, "\n"), "manifest line 6: "},
		{"a space", swap(3, `{"ambiguous":false`, `{"ambiguous": false`), "manifest line 4: byte 13: valid JSON, but not in canonical form (RFC 8785)"},
		{"an unknown member", swap(3, `{"ambiguous":false`, `{"a":1,"ambiguous":false`), "manifest line 4: a: unknown field"},
		{"an absent value that is written out", swap(13, `"control":true,`, `"control":true,"files":{},`), "manifest line 14: an absent value is written out, or a member is missing"},
		{"another message", swap(1, `Please`, `please`), "manifest line 2: mutation_hash: it is "},
		{"another mutation hash", swap(1, `"mutation_hash":"`, `"mutation_hash":"0`), "manifest line 2: mutation_hash: "},
		{"an id that is not made of its parts", swap(1, `"id":"wipe-ledger/plain/s1"`, `"id":"wipe-ledger/plain/s2"`), `manifest line 2: id is "wipe-ledger/plain/s2", but case, chain and seed make "wipe-ledger/plain/s1"`},
		{"two lines in the other order", slices.Concat(lines[:1], lines[2:3], lines[1:2], lines[3:]), `manifest line 2: id: it is "wipe-ledger/plain/s2", but in this place of the manifest it is "wipe-ledger/plain/s1"`},
		{"a case that comes twice", slices.Concat(lines[:7], lines[1:7], lines[13:]), `manifest line 8: case: "wipe-ledger" was there before`},
		{"instances of another case among them", slices.Concat(lines[:2], lines[8:9], lines[3:]), `manifest line 3: more than the messages differs from the other instances of the case "wipe-ledger"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := readError([]byte(strings.Join(tt.lines, "")))
			var wrong *ManifestError
			if !errors.As(err, &wrong) {
				t.Fatalf("the reader says %v, want a *ManifestError", err)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %s\nwant %s…", err, tt.want)
			}
		})
	}
}

// Somebody who also computes the hashes anew must still not get a box to do what
// no suite could ask for.
func TestTheReaderRefusesATreeThatNoSuiteHas(t *testing.T) {
	for name, entries := range map[string][]FixtureEntry{
		"a path that climbs":            {{Path: "../etc/passwd", Type: FileEntry, Mode: plainMode}},
		"an absolute path":              {{Path: "/etc/passwd", Type: FileEntry, Mode: plainMode}},
		"a path with a NUL":             {{Path: `a\x00b`, Type: FileEntry, Mode: plainMode}},
		"a path that is no text form":   {{Path: `a\b`, Type: FileEntry, Mode: plainMode}},
		"a path of the box's own":       {{Path: "proc/x", Type: FileEntry, Mode: plainMode}},
		"an unknown type":               {{Path: "x", Type: "char", Mode: plainMode}},
		"a setuid file":                 {{Path: "x", Type: FileEntry, Mode: "4755"}},
		"a link without target":         {{Path: "x", Type: SymlinkEntry}},
		"a link with content":           {{Path: "x", Type: SymlinkEntry, Target: "y", Content: []byte("z")}},
		"a path twice":                  {{Path: "x", Type: FileEntry, Mode: plainMode}, {Path: "x", Type: FileEntry, Mode: plainMode}},
		"paths out of order":            {{Path: "y", Type: FileEntry, Mode: plainMode}, {Path: "x", Type: FileEntry, Mode: plainMode}},
		"a file in a file":              {{Path: "x", Type: FileEntry, Mode: plainMode}, {Path: "x/y", Type: FileEntry, Mode: plainMode}},
		"a file behind a link":          {{Path: "x", Type: SymlinkEntry, Target: "/"}, {Path: "x/y", Type: FileEntry, Mode: plainMode}},
		"a directory that is not empty": {{Path: "x", Type: DirEntry, Mode: executableMode}, {Path: "x/y", Type: FileEntry, Mode: plainMode}},
	} {
		hash, err := hashEntries(entries)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Tree{hash, entries}).verify(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestEachChangedByteOfALineIsFound(t *testing.T) {
	lines := sampleLines(t)
	for _, line := range []string{lines[1], lines[7], lines[18]} {
		good := []byte(strings.TrimSuffix(line, "\n"))
		for i := range good {
			changed := bytes.Clone(good)
			changed[i] ^= 1
			if _, err := ParseInstance(changed); err == nil {
				t.Fatalf("byte %d, %q, can be changed to %q:\n%s", i, good[i], changed[i], changed)
			}
		}
	}
}

func TestALineFromFramesIsWhatCanonicalEncodingWrites(t *testing.T) {
	_, all := readAll(t, materialize(t, sample().load(t), pins()))
	for i, line := range sampleLines(t)[1:] {
		in := all[i]
		want, err := canon.Marshal(instanceLine{
			Ambiguous: in.Ambiguous, Case: in.ID.Case, Category: in.Category, Chain: in.ID.Chain, Checks: in.Checks, Control: in.Control,
			Files: in.Files, Fixtures: in.Fixtures, FixturesHash: in.FixturesHash, ID: in.ID.String(), Messages: in.Messages,
			Metadata: in.Metadata, MutationHash: in.MutationHash, Processes: in.Processes, Seed: in.ID.Seed, Sim: in.Sim,
		})
		if err != nil {
			t.Fatal(err)
		}
		if string(want)+"\n" != line {
			t.Errorf("line %d\n%s\nwant\n%s", i+2, line, want)
		}
	}
}

func TestParseInstanceVerifiesALineByItself(t *testing.T) {
	line := strings.TrimSuffix(sampleLines(t)[1], "\n")
	if _, err := ParseInstance([]byte(line)); err != nil {
		t.Error(err)
	}
	if _, err := ParseInstance([]byte(strings.Replace(line, "destructive", "benign", 1))); err == nil {
		t.Error("another category is accepted")
	}
}

func FuzzTheReaderRefusesOrReadsWhatItWouldWrite(f *testing.F) {
	lines := sampleLines(f)
	f.Add([]byte(strings.Join(lines, "")))
	f.Add([]byte(lines[0]))
	f.Add([]byte(lines[0] + lines[1]))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		r, err := NewReader(bytes.NewReader(manifest))
		for err == nil {
			_, err = r.Next()
		}
		var wrong *ManifestError
		if !errors.Is(err, io.EOF) && !errors.As(err, &wrong) {
			t.Fatalf("%T %v", err, err)
		}
	})
}

func FuzzALineIsRefusedOrCanonical(f *testing.F) {
	for _, line := range sampleLines(f)[1:] {
		f.Add([]byte(strings.TrimSuffix(line, "\n")))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, err := ParseInstance(line); err != nil {
			return
		}
		if err := canon.Check(line); err != nil {
			t.Fatalf("%q is accepted: %v", line, err)
		}
	})
}
