package all_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestManyJobsAndRunsAreChangedByAFilter(t *testing.T) {
	s := clitest.New(t)
	if code, out, e := s.Run(clitest.TwoJobs+"---\njob: default/quiet\ntask: {shell: \"exit 0\"}\n", "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, e)
	}
	// A filter is asked about first; there is nobody here to ask.
	s.Want("default/broken paused (dry run)\ndefault/hello paused (dry run)\ndefault/quiet paused (dry run)\n", "", "pause", "--group", "default", "--dry-run")
	s.WantError(cli.ExitUsage, "carillon: standard input is not a terminal; confirm with --yes. Nothing was changed\n", "", "pause", "--group", "default")
	s.Want("default/quiet paused\n", "", "pause", "-q", "quiet", "--yes", "--note", "for now")
	s.Want("default/broken paused\ndefault/hello paused\n", "", "pause", "--group", "default", "--yes")
	s.Want("default/quiet unchanged\ndefault/hello unchanged\n", "", "pause", "default/quiet", "default/hello")
	s.Want("no jobs\n", "", "pause", "--group", "none", "--yes")
	s.Want("[\n  {\n    \"job\": \"default/broken\",\n    \"result\": \"resumed\"\n  },\n  {\n    \"job\": \"default/hello\",\n    \"result\": \"resumed\"\n  },\n  {\n    \"job\": \"default/quiet\",\n    \"result\": \"resumed\"\n  }\n]\n",
		"", "resume", "--group", "default", "-y", "-o", "json")
	s.WantError(cli.ExitNotFound, "carillon: default/none: not found: job default/none\n", "", "resume", "default/none", "default/quiet")
	s.WantError(cli.ExitUsage, "carillon: name jobs, or use a filter such as --group, or --all\n", "", "pause", "default/quiet", "--group", "default")
	for _, args := range [][]string{
		{"pause", "--all", "--dry-run"},
		{"delete", "--calendar", "holidays", "--dry-run"},
		{"cancel"},
		{"cancel", "x", "--job", "default/hello"},
		{"rerun", "--job", "default/broken", "--wait"},
		{"run"},
		{"run", "default/hello", "--group", "default"},
		{"run", "default/hello", "default/quiet", "--wait"},
		{"run", "default/hello", "--dry-run", "--params", "1"},
	} {
		if code, out, _ := s.Run("", args...); code != cli.ExitUsage {
			t.Errorf("%s: exit code %d\n%s", args, code, out)
		}
	}

	over := "job: default/over\nschedule: {once: 2026-01-01T00:00:00Z}\ntask: {shell: x}\n"
	if code, out, e := s.Run(over, "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, e)
	}
	s.Want("no jobs\n", "", "delete", "--where", "state:ended", "--where", "last:succeeded", "--yes")
	s.Want("default/over deleted\n", "", "delete", "--where", "state:ended", "--yes")
	s.Want("no jobs\n", "", "delete", "--where", "state:ended", "--yes")

	s.Want("- paused: true\n", "", "get", "versions", "default/quiet", "--to", "3")
	s.Want("+ paused: true\n", "", "get", "versions", "default/quiet", "--from", "1", "--to", "2")
	s.Want("versions 1 and 3 of default/quiet are equal\n", "", "get", "versions", "default/quiet", "--from", "1")

	var ids []string
	for range 2 {
		_, out, _ := s.Run("", "run", "default/broken", "--wait")
		ids = append(ids, regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(out))
	}
	slices.Reverse(ids) // newest first
	s.Want("run "+ids[0]+" of default/broken, failed (dry run)\nrun "+ids[1]+" of default/broken, failed (dry run)\n", "", "mark", "--job", "default/broken", "--note", "seen to", "--dry-run")
	s.Want("run "+ids[0]+" marked as handled\nrun "+ids[1]+" marked as handled\n", "", "mark", "--job", "default/broken", "--note", "seen to", "--yes")
	s.WantError(cli.ExitConflict, "carillon: "+ids[0]+": run "+ids[0]+" has ended already, as failed\n"+ids[1]+": run "+ids[1]+" has ended already, as failed\n", "", "cancel", ids[0], ids[1])
	code, out, e := s.Run("", "rerun", "--job", "default/broken", "--since", "1h", "--yes")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != 0 || len(lines) != 2 || !strings.HasSuffix(lines[0], "is a rerun of "+ids[0]) {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	s.Want("default/broken deleted\ndefault/hello deleted\ndefault/quiet deleted\n", "", "delete", "--group", "default", "--yes")
	s.Want("no jobs\n", "", "get", "jobs")
}

func TestManyJobsAreRunAtOnce(t *testing.T) {
	s := clitest.New(t)
	if code, out, e := s.Run(clitest.TwoJobs+"---\njob: default/quiet\ntask: {shell: \"exit 0\"}\n", "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, e)
	}
	s.Want("default/broken begun (dry run)\ndefault/hello begun (dry run)\ndefault/quiet begun (dry run)\n", "", "run", "--group", "default", "--dry-run")
	s.Want("default/hello begun (dry run)\n", "", "run", "default/hello", "--dry-run")
	s.WantError(cli.ExitUsage, "carillon: standard input is not a terminal; confirm with --yes. Nothing was changed\n", "", "run", "--group", "default")
	s.Want("no runs\n", "", "get", "runs")

	const id = `([0-9a-f]{8}-[0-9a-f-]{27})`
	code, out, e := s.Run("", "run", "default/quiet", "default/hello")
	begun := regexp.MustCompile(`^default/quiet begun: run ` + id + `\ndefault/hello begun: run ` + id + `\n$`).FindStringSubmatch(out)
	if code != 0 || begun == nil {
		t.Fatalf("exit code %d: %s%s", code, out, e)
	}
	for _, run := range begun[1:] {
		if code, out, e := s.Run("", "wait", run); code != 0 {
			t.Errorf("exit code %d: %s%s", code, out, e)
		}
	}
	// Those that are not there do not keep the others from being run.
	code, out, e = s.Run("", "run", "default/none", "default/quiet", "-o", "json")
	if !regexp.MustCompile(`^\[\n  \{\n    "job": "default/quiet",\n    "result": "begun",\n    "run_id": "`+id+`"\n  \}\n\]\n$`).MatchString(out) ||
		code != cli.ExitNotFound || !strings.Contains(e, "default/none: not found: job default/none") {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	code, out, e = s.Run("", "run", "-q", "quiet", "-y")
	if code != 0 || !regexp.MustCompile(`^default/quiet begun: run `+id+`\n$`).MatchString(out) {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
}
