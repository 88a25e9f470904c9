package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// The Go SDK is held against each case.
func TestTheGoSDKConforms(t *testing.T) {
	subject := build(t)
	err := Run(t.Context(), Options{Command: []string{subject}, Slow: !testing.Short()}, func(o Outcome) {
		if o.LeftOut {
			t.Logf("left out with -short: %s", o.Name)
			return
		}
		if o.Failed != "" {
			t.Errorf("%s: %s\n%s", o.Name, o.Failed, o.details())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A program that is no executor passes no case, and each is told why.
func TestWhatIsNoExecutorFails(t *testing.T) {
	n := 0
	err := Run(t.Context(), Options{Command: []string{"false"}, Cases: "kill-"}, func(o Outcome) {
		if o.LeftOut {
			return
		}
		n++
		if !strings.Contains(o.Failed, "the executor has ended: exit status 1") {
			t.Errorf("%s: %q", o.Name, o.Failed)
		}
	})
	if err != nil || n == 0 {
		t.Errorf("%d cases ran, %v", n, err)
	}
}

func TestSlowCasesCanRunAlone(t *testing.T) {
	var want, got []string
	for _, c := range Cases() {
		if c.Slow {
			want = append(want, c.Name)
		}
	}
	err := Run(t.Context(), Options{Command: []string{"false"}, OnlySlow: true}, func(o Outcome) {
		if !o.LeftOut {
			got = append(got, o.Name)
		}
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ran %q, %v, want %q", got, err, want)
	}
}

func TestAReportForCIHasWhatFailedAndWhy(t *testing.T) {
	var b bytes.Buffer
	all := []Outcome{
		{Case: Case{Name: "success", Passage: "The life of a trigger"}, Took: time.Second},
		{Case: Case{Name: "kill", Passage: "Kill", Rule: "a run that is killed ends"}, Failed: "no finished event", Sent: []string{"request kill"}},
		{Case: Case{Name: "drain", Passage: "Requests"}, LeftOut: true},
	}
	if err := JUnit(&b, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`tests="3" failures="1" skipped="1"`, `<testcase name="success" classname="protocol.the-life-of-a-trigger" time="1">`,
		`<failure message="no finished event">`, "request kill", "docs/reference/protocol.md#kill", "<skipped>",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestThePageHasThePassagesOfAllCases(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range Cases() {
		if !strings.Contains(string(text), "# "+c.Passage+"\n") {
			t.Errorf("%s: the page has no passage %q", c.Name, c.Passage)
		}
		if names[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		names[c.Name] = true
	}
}

func TestAMistakeOfACaseIsNoPass(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the case passed")
		}
	}()
	s, err := newStage(t.Context(), Case{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.hear(&nats.Msg{Subject: "$KV.INST.conformance.i", Data: []byte("{}")})
	got := (&test{stage: s, ctx: t.Context(), exec: &process{}}).attempt(Case{run: func(*test) { panic("mistake") }})
	t.Errorf("the case ended with %q", got)
}

func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "subject")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./subject").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// The page shows one call, whose cases and numbers are those of the program.
func TestThePageShowsTheCasesThatThereAre(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "$ carillon conformance --case kill -- ./worker\n")
	block, _, _ = strings.Cut(block, "\n```")
	var want []string
	passed, left := 0, 0
	for _, c := range Cases() {
		switch {
		case !strings.Contains(c.Name, "kill"):
			continue
		case c.Slow:
			left++
		default:
			passed++
		}
		want = append(want, c.Name)
	}
	want = append(want, fmt.Sprintf("%d passed, 0 failed, %d left out", passed, left))
	var got []string
	for line := range strings.SplitSeq(block, "\n") {
		for _, how := range []string{"passed    ", "left out  "} {
			if rest, ok := strings.CutPrefix(line, how); ok {
				line = strings.Fields(rest)[0]
			}
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s shows %q, want %q", page, got, want)
	}
}
