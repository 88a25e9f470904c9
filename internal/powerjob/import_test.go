package powerjob

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/condition"
	"github.com/carillon-scheduler/carillon/internal/goldentest"
)

// outline tells what became of an entry.
func outline(t *testing.T, e *Entry) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s\n", e.Origin, e.Outcome, e.Job.Job)
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "  note %s\n", note)
	}
	if e.Outcome != Imported {
		return b.String()
	}
	if err := e.Job.Validate(); err != nil {
		t.Error(err)
	}
	steps := e.Job.Steps
	e.Job.Steps = nil
	line := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  %s %s\n", name, text)
	}
	line("job", e.Job)
	for i := range steps {
		line("step", steps[i])
		if text := steps[i].If; text != "" {
			if _, err := condition.Parse(text); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	return b.String()
}

func TestAnExportOfPowerJobIsImported(t *testing.T) {
	data, err := os.ReadFile("testdata/export.json")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := Import(data, Options{Group: "etl", Zone: "Asia/Shanghai"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range entries {
		b.WriteString(outline(t, &entries[i]))
	}
	goldentest.Text(t, "testdata/export.golden", b.String())
}

func TestScriptsThatCompareValuesBecomeConditions(t *testing.T) {
	for script, want := range map[string]string{
		`context.get("status") == "success"`:                               `results.check.status == "success"`,
		`return 'a' == context["in"];`:                                     `"a" == results.check["in"]`,
		`Integer.parseInt(context.get("count")) > 100`:                     `int(results.check.count) > 100`,
		`context.get('n').toDouble() >= -0.5`:                              `double(results.check.n) >= -0.5`,
		`context.status.equals("ok") || !(context.a == "b")`:               `results.check.status == "ok" || !(results.check.a == "b")`,
		`(context.a == "x" || context.a == "y") && !"n".equals(context.b)`: `(results.check.a == "x" || results.check.a == "y") && !("n" == results.check.b)`,
		"// why\ntrue":                   "true",
		`Long.valueOf(context.get("n"))`: `int(results.check.n) > 0`,
		`context.get("城市") == "上\"海"`:    `results.check["城市"] == "上\"海"`,
	} {
		got, ok := translate(script, "results.check")
		if !ok || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", script, got, ok, want)
		}
		if _, err := condition.Parse(got); err != nil {
			t.Error(err)
		}
	}
	for _, script := range []string{
		"", "context", `context.get("a")`, `def a = 1; a == 1`, `context.get("a", "b") == "c"`, `"${x}" == "a"`, `context.a == null`,
		`context.size() > 1`, `a == b`, `context.a == "b" ||`, `(context.a == "b"`, `context.a =~ "b"`, `System.exit(1)`, `context.a == "\n"`,
		`context.get(context.a) == "b"`, strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100), `Integer.toString(context.a) == "1"`,
	} {
		if got, ok := translate(script, "params"); ok {
			t.Errorf("%s became %s", script, got)
		}
	}
}

func TestAFileThatCannotBeReadSaysWhere(t *testing.T) {
	f := func(text, want string, o Options) {
		t.Helper()
		if o.Group == "" {
			o.Group = "g"
		}
		entries, err := Import([]byte(text), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, %v; want %s", text, entries, err, want)
		}
	}
	f("", "file is empty", Options{})
	f("{\n\n\"a\": }", "file is not JSON after line 1", Options{})
	f(`[1]`, "value 1[0] must be an object or a list, and is 1", Options{})
	f(`{"a":1,"b":2}`, "value 1 is neither a workflow (with wfName) nor a job (with jobName); it has a, b", Options{})
	f(`{"success":false,"message":"Permission Denied"}`, `value 1 is a refusal of PowerJob: "Permission Denied"`, Options{})
	f(`{"data":{"id":"often","jobName":"x"}}`, `value 1.data.id must be a whole number, and is "often"`, Options{})
	f(`{"wfName":"x","peworkflowDAG":{"nodes":[{"nodeId":1},{"nodeId":1.5}]}}`, "value 1.peworkflowDAG.nodes[1].nodeId must be a whole number, and is 1.5", Options{})
	f(`{"wfName":"x","peworkflowDAG":[]}`, "value 1.peworkflowDAG is of another type than PowerJob writes: array", Options{})
	f(`{"jobName":7}`, "value 1.jobName is of another type than PowerJob writes: number", Options{})
	f(`{"jobName":"a","id":1}{"jobName":"b","id":1}`, "has job 1 twice", Options{})
	f(`{"jobName":"a","id":1,"appId":1}{"wfName":"b","id":1,"appId":"2"}`, "several applications, appId 1 and 2", Options{})
	f("{\"jobName\":\"\xb1\xb1\"}", "is not UTF-8 on line 1; convert it: iconv", Options{})
	f("\xff\xfe{\x00", "UTF-16", Options{})
	f(strings.Repeat("[", 20)+strings.Repeat("]", 20), "nested too deeply", Options{})
	f(strings.Repeat(" ", MaxFile+1), "has more than 16777216 bytes", Options{})
	f("{}", `"Mars" is not a time zone`, Options{Zone: "Mars"})
	f("{}", `group "A b"`, Options{Group: "A b"})
}

// many returns a workflow of as many nodes, each after the one before.
func many(nodes int) string {
	var n, e []string
	for i := range nodes {
		n = append(n, fmt.Sprintf(`{"nodeId":%d,"jobId":1,"nodeName":"a"}`, i+1))
		if i > 0 {
			e = append(e, fmt.Sprintf(`{"from":%d,"to":%d}`, i, i+1))
		}
	}
	return fmt.Sprintf(`{"wfName":"w","id":1,"dag":{"nodes":[%s],"edges":[%s]}} {"jobName":"a","id":1,"processorInfo":"a"}`, strings.Join(n, ","), strings.Join(e, ","))
}

func TestAWorkflowOfPowerJobHasAtMostAThousandSteps(t *testing.T) {
	f := func(nodes int, outcome Outcome, note string) {
		t.Helper()
		entries, err := Import([]byte(many(nodes)), Options{Group: "g"})
		if err != nil {
			t.Fatal(err)
		}
		if e := entries[1]; e.Outcome != outcome || outcome == Imported && len(e.Job.Steps) != nodes || note != "" && (len(e.Notes) != 1 || !strings.Contains(e.Notes[0], note)) {
			t.Errorf("%d nodes: %s, %d steps, %.300q", nodes, e.Outcome, len(e.Job.Steps), e.Notes)
		}
	}
	f(1000, Imported, "")
	f(1001, Broken, "1001; at most 1000 are allowed")
}

func FuzzImport(f *testing.F) {
	data, err := os.ReadFile("testdata/export.json")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := Import([]byte(text), Options{Group: "g"})
		if err != nil {
			return
		}
		for i := range entries {
			outline(t, &entries[i])
		}
	})
}
