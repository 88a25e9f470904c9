package all_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestJobsAreAppliedRunAndRead(t *testing.T) {
	s := clitest.New(t)
	s.Want("no jobs\n", "", "get", "jobs")
	s.Want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created (dry run: nothing was saved)\n",
		clitest.TwoJobs, "apply", "-f", "-", "--dry-run")
	s.Want("no jobs\n", "", "get", "jobs")
	s.Want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created\n", clitest.TwoJobs, "apply", "-f", "-")
	s.Want("unchanged  calendar  holidays\nunchanged  job       default/hello\nunchanged  job       default/broken\n3 unchanged\n", clitest.TwoJobs, "apply", "-f", "-")
	s.Want("unchanged  job  default/broken\nchanged    job  default/hello\n    ~ schedule.cron: \"0 3 1 1 *\" -> \"0 4 1 1 *\"\n1 changed, 1 unchanged\n",
		"job: default/broken\ntask: {shell: \"echo oh; exit 3\"}\n---\n"+strings.Replace(strings.Split(clitest.TwoJobs, "---\n")[1], "0 3", "0 4", 1), "apply", "-f", "-")

	code, out, _ := s.Run("", "run", "default/hello", "--follow", "--params", `{"a":1}`)
	if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[2], "run ") {
		t.Errorf("exit code %d: %s", code, out)
	} else {
		// The two outputs of a program race with each other.
		if diff := cmp.Diff(map[string]bool{`hello {"a":1}`: true, "bye": true}, map[string]bool{lines[0]: true, lines[1]: true}); diff != "" {
			t.Error(diff)
		}
	}
	code, out, _ = s.Run("", "run", "default/broken", "--wait", "-o", "json")
	var run struct {
		RunID    string `json:"run_id"`
		Status   string `json:"status"`
		ExitCode int    `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil || code != cli.ExitRunFailed || run.Status != "failed" || run.ExitCode != 3 {
		t.Errorf("exit code %d: %s, %v", code, out, err)
	}
	if code, out, _ := s.Run("", "logs", run.RunID, "-f", "--tail", "5"); code != 0 || !strings.HasPrefix(out, "oh\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.Run("", "logs", "default/broken"); code != 0 || !strings.HasPrefix(out, "oh\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.Run("", "get", "runs", run.RunID); code != 0 || !strings.Contains(out, "exit code   3\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.Run("", "get", "runs", "--status", "failed,lost", "--since", "1h"); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.WantError(cli.ExitConflict, "carillon: run "+run.RunID+" has ended already, as failed\n", "", "cancel", run.RunID)

	s.Want("default/hello paused\n", "", "pause", "default/hello", "--note", "for now")
	s.Want("default/hello resumed\n", "", "resume", "default/hello")
	if code, out, _ := s.Run("", "pause", "--all"); code != 0 || !strings.HasPrefix(out, "all jobs have been paused since ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, out, _ := s.Run("", "get", "jobs"); !strings.Contains(out, "\nall jobs have been paused since ") {
		t.Errorf("the list of jobs does not say that none fires: %s", out)
	}
	s.Want("all jobs resumed\n", "", "resume", "--all")
	s.Want("default/hello deleted\n", "", "delete", "default/hello")
	s.WantError(cli.ExitNotFound, "carillon: not found", "", "delete", "default/hello")
	s.WantError(cli.ExitNotFound, "carillon: not found: job default/other has not run yet\n", "", "logs", "default/other")
}

func TestARunIsDoneAgainWithOtherParameters(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/pick\n1 created\n", "job: default/pick\nparams: {code: 3}\ntask: {shell: 'exit $(echo $CARILLON_PARAMS | tr -dc 0-9)'}\n", "apply", "-f", "-")
	ended := func(code int, args ...string) (run struct {
		RunID    string `json:"run_id"`
		FireTime string `json:"fire_time"`
		Cause    string `json:"cause"`
		ExitCode int    `json:"exit_code"`
	},
	) {
		t.Helper()
		got, out, errOut := s.Run("", append(args, "--wait", "-o", "json")...)
		if err := json.Unmarshal([]byte(out), &run); err != nil || got != code {
			t.Fatalf("carillon %s: exit code %d: %s%s, %v", strings.Join(args, " "), got, out, errOut, err)
		}
		return run
	}
	first := ended(cli.ExitRunFailed, "run", "default/pick", "--params", `{"code":4}`)
	again := ended(cli.ExitRunFailed, "rerun", first.RunID)
	if again.ExitCode != 4 || again.Cause != "rerun" || again.FireTime != first.FireTime {
		t.Errorf("%+v is done again as %+v", first, again)
	}
	ended(0, "rerun", again.RunID, "--param", "code=0", "--version", "same")
	if code, out, _ := s.Run("", "get", "runs", "--rerun-of", first.RunID); code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, again.RunID) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, out, _ := s.Run("", "get", "runs", first.RunID); !strings.Contains(out, "RERUN BY") || !strings.Contains(out, again.RunID) {
		t.Errorf("the run does not say by which it was done again: %s", out)
	}
	if _, out, _ := s.Run("", "get", "runs", again.RunID); !strings.Contains(out, "rerun of  "+first.RunID) || !strings.Contains(out, `{"code":4}`) {
		t.Errorf("the run does not say which it does again: %s", out)
	}
	s.WantError(cli.ExitUsage, "carillon: --param code must be KEY=VALUE", "", "rerun", first.RunID, "--param", "code")

	s.Want("run "+first.RunID+" marked as succeeded\n", "", "mark", first.RunID, "--as", "succeeded", "--note", "done by hand")
	s.WantError(cli.ExitUsage, "carillon: as \"lost\" must be one of [handled succeeded none]\nSee \"carillon mark --help\".\n", "", "mark", first.RunID, "--as", "lost", "--note", "x")
}
