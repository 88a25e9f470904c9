package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestTheGraphsOfTwoVersionsAreCompared(t *testing.T) {
	s := clitest.New(t)
	for _, version := range []string{`
job: default/night
steps:
  - {step: extract, task: {shell: "true"}}
  - {step: clean, after: extract, task: {shell: "true"}}
  - {step: load, after: clean, task: {shell: "true"}}
  - {step: tell, after: {step: load, "on": failure}, task: {shell: "true"}}
`, `
job: default/night
steps:
  - {step: extract, task: {shell: "true"}}
  - {step: check, after: extract, task: {shell: "true"}}
  - {step: load, after: [extract, check], timeout: 5m, task: {shell: "exit 1"}}
  - {step: tell, after: {step: load, "on": always}, task: {shell: "true"}}
  - {step: log, after: {step: load, "on": end}, task: {shell: "true"}}
`, `
job: default/night
title: Night
steps:
  - {step: extract, task: {shell: "true"}}
  - {step: check, after: extract, task: {shell: "true"}}
  - {step: load, after: [check, extract], timeout: 5m, task: {shell: "exit 1"}}
  - {step: tell, after: {step: load, "on": always}, task: {shell: "true"}}
  - {step: log, after: {step: load, "on": end}, task: {shell: "true"}}
`} {
		if code, _, errOut := s.Run(version, "apply", "-f", "-"); code != 0 {
			t.Fatal(errOut)
		}
	}
	s.Want(`+ step check
- step clean
~ step load
    ~ task.shell: "true" -> "exit 1"
    + timeout: "5m"
+ step log
+ edge extract -> check
- edge extract -> clean
+ edge check -> load
- edge clean -> load
+ edge extract -> load
+ edge load -> log (end)
~ edge load -> tell: failure -> always
`, "", "graph", "default/night", "--diff", "1..2")
	s.Want("the steps of versions 2 and 3 of default/night are equal\n", "", "graph", "default/night", "--diff", "2..3")
	for _, bad := range []string{"3", "1..", "0..2", "a..b", "", "1..2..3"} {
		if code, _, errOut := s.Run("", "graph", "default/night", "--diff", bad); code != cli.ExitUsage || !strings.Contains(errOut, "such as 3..4") {
			t.Errorf("--diff %q: exit code %d: %s", bad, code, errOut)
		}
	}
}
