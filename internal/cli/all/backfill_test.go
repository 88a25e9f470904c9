package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const nightly = `job: default/load
tags: [nightly]
schedule: {cron: "0 * * * *"}
task: {shell: "exit 0"}
---
job: default/off
tags: [nightly]
paused: true
schedule: {cron: "0 * * * *"}
task: {shell: "exit 0"}
`

func TestADayOfManyJobsIsRunAgain(t *testing.T) {
	s := clitest.New(t)
	if code, out, e := s.Run(nightly, "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, e)
	}
	s.Want("no backfills of many jobs\n", "", "get", "backfills")
	// Of hours in which there were no jobs yet, all fires are run.
	const plan = "JOB           FIRES  LEFT OUT  NOT SELECTED  WHY NOT\n" +
		"default/load  24     0         -             -\n" +
		"default/off   0      0         -             the job is paused\n\n"
	day := []string{"--tag", "nightly", "--day", "yesterday", "--only", "all"}
	backfill := func(more ...string) []string { return append(append([]string{"backfill"}, day...), more...) }
	s.Want(plan+"24 fires of 1 job would run.\n", "", backfill("--dry-run")...)
	s.WantError(cli.ExitUsage, "carillon: standard input is not a terminal; confirm with --yes. Nothing was changed\n", "", backfill()...)
	s.Want(plan+"Backfill night: 1 job, 4 at once.\nSee its progress with \"carillon get backfills night\".\n",
		"", backfill("--yes", "--id", "night", "--limit-at-once", "4")...)
	if code, out, e := s.Run("", "backfill", "--cancel", "night", "--note", "enough"); code != 0 || !strings.Contains(out, "enough") {
		t.Error(code, out, e)
	}
	s.WantError(cli.ExitConflict, "carillon: backfill night has ended, or was cancelled\n", "", "backfill", "--retry", "night")
	for _, args := range [][]string{
		{"backfill"},
		{"backfill", "--tag", "nightly"},
		{"backfill", "default/load", "--tag", "nightly", "--day", "today"},
		{"backfill", "default/load", "--day", "tomorrow"},
		{"backfill", "default/load", "--day", "yesterday", "--since", "1d"},
		{"backfill", "--retry", "night", "--since", "1d"},
	} {
		if code, out, _ := s.Run("", args...); code != cli.ExitUsage {
			t.Errorf("%s: exit code %d\n%s", args, code, out)
		}
	}
}
