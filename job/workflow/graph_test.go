package workflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/workflow"
)

// steps reads lines such as "load any clean,enrich:failure finally may_fail".
func steps(t *testing.T, text string) (all []workflow.Step) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s := workflow.Step{Name: words[0]}
		for _, w := range words[1:] {
			switch w {
			case "finally":
				s.Finally = true
			case "may_fail":
				s.MayFail = true
			case "always":
				s.Rerun = workflow.RerunAlways
			case "all":
			case "taken":
				s.Join.Taken = true
			case "any":
				s.Join.Least = 1
			case "two":
				s.Join.Least = 2
			default:
				for source := range strings.SplitSeq(w, ",") {
					name, on, _ := strings.Cut(source, ":")
					s.After = append(s.After, workflow.Edge{Step: name, On: workflow.On(on)})
				}
			}
		}
		all = append(all, s)
	}
	return all
}

func graph(t *testing.T, text string) *workflow.Graph {
	t.Helper()
	g, problems := workflow.New(steps(t, text))
	if problems != nil {
		t.Fatalf("%s: %v", text, problems)
	}
	return g
}

func TestWhatIsWrongWithAGraphIsNamed(t *testing.T) {
	wrong := func(text string, want ...string) {
		t.Helper()
		g, problems := workflow.New(steps(t, text))
		if g != nil {
			t.Errorf("%q is a graph", text)
		}
		var got []string
		for _, p := range problems {
			got = append(got, p.Field+": "+p.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	wrong("load-eu\n1st", `steps[0].step: "load-eu" may have only lower-case letters, digits and '_', and begins with a letter`,
		`steps[1].step: "1st" may have only lower-case letters, digits and '_', and begins with a letter`)
	wrong(strings.Repeat("a", 64), "steps[0].step: has 64 characters; at most 63 are allowed")
	wrong("a\nb\na", `steps[2].step: "a" is the name of steps[0] already`)
	wrong("extract\nload extrakt", `steps[1].after: "extrakt" is no step; did you mean "extract"?`)
	wrong("extract\nload extract,zzz", `steps[1].after[1]: "zzz" is no step`)
	wrong("a a", "steps[0].after: is the step itself")
	wrong("a\nb a,a:failure", `steps[1].after[1]: "a" is listed twice`)
	wrong("a\nb a:done", `steps[1].after: has on "done"; write success, failure, end or always`)
	wrong("x\na x,c\nb a\nc b", "steps: lead in a circle: a → b → c → a")
	wrong("a finally\nb a", "steps[1].after: a is a finally step, which only finally steps may follow")
	wrong("a\nb a finally", "steps[1].after: a is no finally step: a finally step comes after all of them anyhow")
	wrong("a any", "steps[0].join: any says how many of after are enough, but there is no after")
	wrong("a\nb two a", "steps[1].join: 2 must be between 1 and the number of steps in after, which is 1")

	many := make([]workflow.Step, workflow.MaxSteps+1)
	if _, problems := workflow.New(many); len(problems) != 1 || !strings.Contains(problems[0].Reason, "has 1001; at most 1000") {
		t.Errorf("1,001 steps: %v", problems)
	}
	many = many[:workflow.MaxSteps]
	for i := range many {
		many[i].Name = fmt.Sprintf("s%d", i)
		for k := max(0, i-6); k < i; k++ {
			many[i].After = append(many[i].After, workflow.Edge{Step: many[k].Name})
		}
	}
	if _, problems := workflow.New(many); len(problems) != 1 || problems[0].Reason != "have 5979 dependencies; at most 5000 are allowed" {
		t.Errorf("5,979 edges: %v", problems)
	}
}

func TestAStepIsWrittenAsItIsRead(t *testing.T) {
	same := func(text string) {
		t.Helper()
		var s workflow.Step
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(s)
		if err != nil || string(got) != text {
			t.Errorf("%s is written as %s, %v", text, got, err)
		}
	}
	same(`{"step":"a"}`)
	same(`{"step":"a","after":["b",{"step":"c","on":"failure"}],"join":"any"}`)
	same(`{"step":"a","after":["b","c","d"],"join":2,"finally":true,"may_fail":true,"rerun":"always"}`)
	same(`{"step":"a","after":["b"],"join":"taken"}`)

	var s workflow.Step
	if err := json.Unmarshal([]byte(`{"step":"a","after":{"step":"b","on":"end"},"join":"all"}`), &s); err != nil || !slices.Equal(s.After, workflow.Edges{{Step: "b", On: workflow.OnEnd}}) || s.Join != (workflow.Join{}) {
		t.Errorf("a single edge is read as %+v, %v", s, err)
	}
	for text, want := range map[string]string{
		`{"join":"some"}`:                         `"some" must be all, taken, any, or how many of after are enough`,
		`{"join":0}`:                              `0 must be all, taken, any, or how many of after are enough`,
		`{"after":{"step":"b","onn":"failure"}}`:  `is not a known field; there are step and on`,
		`{"after":{"step":"b","true":"failure"}}`: `is not a known field; write "on", in quotes`,
		`{"after":[3]}`:                           `must be the name of a step, or an object with step and on`,
	} {
		if err := json.Unmarshal([]byte(text), new(workflow.Step)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestWhatIsFinalOnceAStepRuns(t *testing.T) {
	g := graph(t, `
		root
		left root
		right root
		both left,right
		either any left,right
		late either
		of two left,right,root
		tidy finally
		last tidy finally`)
	r := g.Reach()
	at := func(name string) int { i, _ := g.Index(name); return i }
	ended := func(when, want string) {
		t.Helper()
		var got []string
		for i := range g.Len() {
			if r.Ended(i, at(when)) {
				got = append(got, g.Step(i).Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("once %s runs, %v are final, want %s", when, got, want)
		}
	}
	ended("both", "root left right")
	ended("either", "root")
	ended("late", "root either")
	ended("of", "root")
	ended("tidy", "root left right both either late of")
	ended("last", "root left right both either late of tidy")
	if !r.Before(at("left"), at("late")) || r.Before(at("both"), at("late")) || !r.Before(at("of"), at("last")) {
		t.Error("the ancestors are wrong")
	}
}
