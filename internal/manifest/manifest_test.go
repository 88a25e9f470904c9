package manifest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

const nightly = `# what the night shift does
job: ops/backup   # the name
schedule:
  cron: "0 3 * * *"
  zone: Europe/Berlin
task:
  shell: |
    tar cf b.tar data
    ls -l
---

---
# an empty document above, and one without a job below
{calendar: holidays, dates: [12-25, 2026-05-01], windows: [{from: 09:00, to: 17:30}]}
...
`

func TestYAMLDocumentsBecomeJSONThatRemembersItsLines(t *testing.T) {
	docs, err := Parse("night.yaml", []byte(nightly))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 {
		t.Fatalf("got %d documents, want 2", len(docs))
	}
	backup, holidays := docs[0], docs[1]
	want := `{"job":"ops/backup","schedule":{"cron":"0 3 * * *","zone":"Europe/Berlin"},"task":{"shell":"tar cf b.tar data\nls -l\n"}}`
	if diff := cmp.Diff(want, string(backup.JSON)); diff != "" {
		t.Error(diff)
	}
	if backup.Kind != Job || backup.Name != "ops/backup" || backup.Line != 2 {
		t.Errorf("got %s %q at line %d", backup.Kind, backup.Name, backup.Line)
	}
	want = `{"calendar":"holidays","dates":["12-25","2026-05-01"],"windows":[{"from":"09:00","to":"17:30"}]}`
	if diff := cmp.Diff(want, string(holidays.JSON)); diff != "" {
		t.Error(diff)
	}
	place := func(d Document, field, want string) {
		t.Helper()
		if got := d.Problem(field, "is wrong").Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	place(backup, "schedule.cron", "night.yaml:4: schedule.cron is wrong")
	place(backup, "schedule.spread", "night.yaml:3: schedule.spread is wrong")
	place(backup, "zone", "night.yaml:5: zone is wrong")
	place(backup, "timeout", "night.yaml:2: timeout is wrong")
	place(backup, "", "night.yaml:2: is wrong")
	place(holidays, "dates[1]", "night.yaml:14: dates[1] is wrong")
}

func TestJSONDocumentsFollowOneAnother(t *testing.T) {
	text := "{\n\t\"job\": \"ops/a\",\n\t\"task\": {\n\t\t\"shell\": \"x\\u00e9\"\n\t}\n}\n{\"calendar\": \"free\",\n \"dates\": [\"12-25\"]}"
	docs, err := Parse("stdin", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[0].Name != "ops/a" || docs[1].Name != "free" || docs[1].Line != 7 {
		t.Fatalf("got %+v", docs)
	}
	if got, want := docs[0].Problem("task.shell", "is wrong").Error(), "stdin:4: task.shell is wrong"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := docs[1].Problem("dates[0]", "is wrong").Error(), "stdin:8: dates[0] is wrong"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !json.Valid(docs[0].JSON) || !json.Valid(docs[1].JSON) {
		t.Errorf("not JSON: %s %s", docs[0].JSON, docs[1].JSON)
	}
}

func TestJSONDocumentsMayBePartedAsYAMLParts(t *testing.T) {
	for _, file := range []string{"stdin", "a.yaml"} {
		docs, err := Parse(file, []byte(`{"job": "a/b"}`+"\n---\n"+`{"job": "a/c", "description": "x"}`+"\n"))
		if err != nil || len(docs) != 2 || string(docs[1].JSON) != `{"job":"a/c","description":"x"}` || docs[1].Line != 3 {
			t.Errorf("%s: %+v, %v", file, docs, err)
		}
	}
}

func TestScalarsKeepTheirMeaning(t *testing.T) {
	for text, want := range map[string]string{
		"1.10":                 `1.10`,
		"0x10":                 `16`,
		"12345678901234567890": `12345678901234567890`,
		"yes":                  `"yes"`,
		"true":                 `true`,
		"~":                    `null`,
		"":                     `null`,
		"2026-03-01T09:00:00Z": `"2026-03-01T09:00:00Z"`,
		"!!str 12":             `"12"`,
		"09:30":                `"09:30"`,
		"2026-01-06":           `"2026-01-06"`,
		"{on: [31, last day], from: 2026-01-06, at: 12:30}": `{"on":[31,"last day"],"from":"2026-01-06","at":"12:30"}`,
		"\n  - 09:00\n  - 12:30:00":                         `["09:00","12:30:00"]`,
		`"a\tb"`:                                            `"a\tb"`,
		"'it''s'":                                           `"it's"`,
		">\n  folded\n  text":                               `"folded text\n"`,
		"[a, {b: c}]":                                       `["a",{"b":"c"}]`,
		"{b: &b {x: 1}, c: {<<: *b, y: 2}}":                 `{"b":{"x":1},"c":{"x":1,"y":2}}`,
		"{b: &b {x: 1}, c: {<<: *b, x: 2}}":                 `{"b":{"x":1},"c":{"x":2}}`,
		"{b: &b {x: 1}, d: &d {x: 3, z: 4}, c: {<<: [*b, *d]}}": `{"b":{"x":1},"d":{"x":3,"z":4},"c":{"z":4,"x":1}}`,
	} {
		docs, err := Parse("a.yaml", []byte("job: a/b\nparams: "+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(`{"job":"a/b","params":`+want+`}`, string(docs[0].JSON)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestProblemsNameFileLineAndField(t *testing.T) {
	f := func(file, text, want string) {
		t.Helper()
		_, err := Parse(file, []byte(text))
		if err == nil || err.Error() != want || !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%.80q\n got %v\nwant %s", text, err, want)
		}
	}
	f("a.yaml", "job: a/b\n  x: y\n", "a.yaml:1: not YAML: mapping value is not allowed in this context")
	f("a.yaml", "job: a/b\n---\njob: [1\n", "a.yaml:3: not YAML: sequence end token ']' not found")
	f("a.yaml", "job: a/b\njob: a/c\n", "a.yaml:2: not YAML: mapping key \"job\" already defined at [1:1]")
	f("a.yaml", "name: x\n", `a.yaml:1: must be a job, with a field "job: GROUP/NAME", or a calendar, a channel or an alert, with a field such as "calendar: NAME"`)
	f("a.yaml", "- a\n", `a.yaml:1: must be fields and their values, such as "job: GROUP/NAME"`)
	f("a.yaml", "hello\n", `a.yaml:1: must be fields and their values, such as "job: GROUP/NAME"`)
	f("a.yaml", "#\njob: 12\n", "a.yaml:2: job must be text")
	f("a.yaml", "\njob: a.b/*\n", `a.yaml:2: job "a.b/*" must be GROUP/NAME, each of 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit, for example billing/nightly-report`)
	f("a.yaml", "calendar: a b\n", `a.yaml:1: calendar "a b" must be 1 to 63 lower-case letters, digits, '-' and '_', the first a letter or a digit`)
	f("a.yaml", "job: a/b\ntask: *t\n", "a.yaml:2: task refers to *t, but there is no &t")
	f("a.yaml", "job: a/b\ntask: !go:x y\n", "a.yaml:2: task has the tag !go:x, which is not supported")
	f("a.yaml", "job: a/b\nparams: .nan\n", "a.yaml:2: params has the value .nan, which JSON cannot express")
	f("a.json", "{\"job\": \"a/b\",\n \"task\": {\"shell\": \"x\",\n \"shell\": \"y\"}}", "a.json:3: task.shell is given twice")
	f("a.json", "{\"job\": \"a/b\",\n \"task\": ", "a.json:2: not JSON: it ends before the object does")
	f("a.json", "[]", `a.json:1: must be an object, with a field "job" or "calendar"`)
	f("a.yaml", strings.Repeat("x", maxFile+1), "a.yaml: is larger than 8 MiB; divide it into several files")
	f("a.yaml", "job: a/b\ntask:\n  shell: |\n    "+strings.Repeat("x", maxText)+"\n", "a.yaml:1: the document has 1048607 bytes; at most 1048576 are read")
	f("a.yaml", "job: a/b\ntask:\n  shell: "+strings.Repeat("x", 300_000)+"\n", "a.yaml:1: the document has 300033 bytes; a job may have at most 262144")
	f("a.yaml", "job: a/b\nx:\n  "+strings.Repeat("[", 100_000), "a.yaml:3: more than 500 brackets are open at once")
}

func TestOneBadDocumentDoesNotHideAnother(t *testing.T) {
	docs, err := Parse("a.yaml", []byte("job: a/b\n---\nx: y\n---\njob: a/c\n---\njob: 1\n"))
	if len(docs) != 2 {
		t.Errorf("got %d documents, want the two good ones", len(docs))
	}
	if got := strings.Count(err.Error(), "a.yaml:"); got != 2 {
		t.Errorf("got %d problems, want 2: %v", got, err)
	}
}

func TestAliasesCannotGrowWithoutBound(t *testing.T) {
	var b strings.Builder
	b.WriteString("job: a/b\nl0: &l0 [xxxxxxxxxx]\n")
	for i := range 9 {
		line := strings.ReplaceAll("lN: &lN [*lM, *lM, *lM, *lM, *lM, *lM, *lM, *lM, *lM, *lM]\n", "N", string(rune('1'+i)))
		b.WriteString(strings.ReplaceAll(line, "M", string(rune('0'+i))))
	}
	for _, text := range []string{b.String(), "job: a/b\nx: &x [*x]\n", "job: a/b\nx: &x\n  <<: *x\n"} {
		if _, err := Parse("bomb.yaml", []byte(text)); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	}
}

func TestFoldersAreReadInOrderAndNamesAreUnique(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.yaml", "job: ops/b\n")
	write("a.json", `{"job": "ops/a"}`)
	write("sub/c.yml", "job: ops/c\n")
	write("README.md", "not a job")
	write(".hidden/d.yaml", "not a job")
	docs, err := Read([]string{dir, "-"}, strings.NewReader("calendar: ops\n"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range docs {
		names = append(names, string(d.Kind)+" "+d.Name)
	}
	if diff := cmp.Diff([]string{"job ops/a", "job ops/b", "job ops/c", "calendar ops"}, names); diff != "" {
		t.Error(diff)
	}

	write("sub/d.yml", "#\njob: ops/b\n")
	_, err = Read([]string{dir}, nil)
	want := filepath.Join(dir, "sub/d.yml") + `:2: job "ops/b" is given at ` + filepath.Join(dir, "b.yaml") + ":1 already"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := Read([]string{t.TempDir()}, nil); err == nil {
		t.Error("an empty folder was accepted")
	}
	if _, err := Read([]string{filepath.Join(dir, "nowhere")}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{nightly, "{\"job\": \"a/b\", \"params\": [1.0e3, null]}", "job: a/b\nx: &x {<<: *x}\n", "? a\n: b\n", "job: |-\n a/b\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := Parse("f", data)
		for _, d := range docs {
			if !json.Valid(d.JSON) {
				t.Errorf("not JSON: %s", d.JSON)
			}
			if d.Name == "" || d.Line < 1 {
				t.Errorf("no name or line: %+v", d)
			}
		}
		if err != nil && !errors.Is(err, job.ErrInvalid) {
			t.Errorf("got %v, want an Error", err)
		}
	})
}

func TestTextWithAColonIsTextInAListWithinBraces(t *testing.T) {
	for text, want := range map[string]string{
		"{by: [role:operator]}":                  `{"by":["role:operator"]}`,
		"{by: [user:ann@b.c, role:x], min: 2}":   `{"by":["user:ann@b.c","role:x"],"min":2}`,
		"{by: [a:b:c, d: e, f: {g: h}]}":         `{"by":["a:b:c",{"d":"e"},{"f":{"g":"h"}}]}`,
		"[role:operator, {a: b}]":                `["role:operator",{"a":"b"}]`,
		`{by: ["role:operator", a:"b", {c: d}]}`: `{"by":["role:operator",{"a":"b"},{"c":"d"}]}`,
	} {
		docs, err := Parse("x", []byte("job: a/b\nx: "+text+"\n"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := string(docs[0].JSON); got != `{"job":"a/b","x":`+want+`}` {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
