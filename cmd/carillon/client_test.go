package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/client"
)

// terminal is a person at one: commands, and a server that "carillon dev" runs.
type terminal struct {
	t      *testing.T
	server string
}

// newTerminal starts "carillon dev" in this process, on free ports and a new directory.
func newTerminal(t *testing.T) *terminal {
	t.Helper()
	data := t.TempDir() // removed after the cleanup below, which ends the server
	ctx, stop := context.WithCancel(context.Background())
	said, says := io.Pipe()
	ended := make(chan int, 1)
	var log strings.Builder
	go func() {
		args := []string{"dev", "--http", "127.0.0.1:0", "--nats", "127.0.0.1:0", "--data", data, "--no-samples", "--alert-allow", "127.0.0.1"}
		code := execute(ctx, newRoot(newDevCommand()), args, strings.NewReader(""), says, &log)
		_ = says.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("carillon dev ended with code %d: %s", code, log.String())
		}
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if address := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); address != "" {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return &terminal{t, address}
		}
	}
	t.Fatalf("carillon dev did not say where it listens: %s", log.String())
	return nil
}

// run runs a command line and returns what it printed.
func (s *terminal) run(stdin string, args ...string) (code int, out, errOut string) {
	s.t.Helper()
	var o, e strings.Builder
	root := newRoot(newApplyCommand(), newGetCommand(), newRunCommand(), newRerunCommand(), newMarkCommand(), newLogsCommand(), newCancelCommand(),
		newPauseCommand(), newResumeCommand(), newSkipCommand(), newDeleteCommand(), newRollbackCommand(), newSecretCommand(), newImportCommand(), newAlertCommand(),
		newCordonCommand(), newUncordonCommand(), newSetCommand(), newDrainCommand(), newSearchCommand(), newRetentionCommand(), newSQLCommand(), newWaitCommand(), newDiagnosticsCommand())
	code = execute(s.t.Context(), root, append(args, "--server", s.server), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// want runs a command line that succeeds and checks its output.
func (s *terminal) want(out, stdin string, args ...string) {
	s.t.Helper()
	got, o, e := s.run(stdin, args...)
	if got != 0 || o != out {
		s.t.Errorf("carillon %s\nexit code %d\n%s%s", strings.Join(args, " "), got, e, cmp.Diff(out, o))
	}
}

// wantError checks exit code and error.
func (s *terminal) wantError(code int, text, stdin string, args ...string) {
	s.t.Helper()
	got, o, e := s.run(stdin, args...)
	if got != code || !strings.HasPrefix(e, text) {
		s.t.Errorf("carillon %s\nexit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, o, cmp.Diff(text, e))
	}
}

const twoJobs = `calendar: holidays
dates: [12-25]
---
job: default/hello
schedule: {cron: "0 3 1 1 *", except: [holidays]}
task:
  shell: echo "hello $CARILLON_PARAMS"; echo bye >&2
---
job: default/broken
task: {shell: "echo oh; exit 3"}
`

func TestJobsAreAppliedRunAndRead(t *testing.T) {
	s := newTerminal(t)
	s.want("no jobs\n", "", "get", "jobs")
	s.want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created (dry run: nothing was saved)\n",
		twoJobs, "apply", "-f", "-", "--dry-run")
	s.want("no jobs\n", "", "get", "jobs")
	s.want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created\n", twoJobs, "apply", "-f", "-")
	s.want("unchanged  calendar  holidays\nunchanged  job       default/hello\nunchanged  job       default/broken\n3 unchanged\n", twoJobs, "apply", "-f", "-")
	s.want("unchanged  job  default/broken\nchanged    job  default/hello\n    ~ schedule.cron: \"0 3 1 1 *\" -> \"0 4 1 1 *\"\n1 changed, 1 unchanged\n",
		"job: default/broken\ntask: {shell: \"echo oh; exit 3\"}\n---\n"+strings.Replace(strings.Split(twoJobs, "---\n")[1], "0 3", "0 4", 1), "apply", "-f", "-")

	code, out, _ := s.run("", "run", "default/hello", "--follow", "--params", `{"a":1}`)
	if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[2], "run ") {
		t.Errorf("exit code %d: %s", code, out)
	} else {
		// The two outputs of a program race with each other.
		if diff := cmp.Diff(map[string]bool{`hello {"a":1}`: true, "bye": true}, map[string]bool{lines[0]: true, lines[1]: true}); diff != "" {
			t.Error(diff)
		}
	}
	code, out, _ = s.run("", "run", "default/broken", "--wait", "-o", "json")
	var run struct {
		RunID    string `json:"run_id"`
		Status   string `json:"status"`
		ExitCode int    `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil || code != exitRunFailed || run.Status != "failed" || run.ExitCode != 3 {
		t.Errorf("exit code %d: %s, %v", code, out, err)
	}
	if code, out, _ := s.run("", "logs", run.RunID, "-f", "--tail", "5"); code != 0 || !strings.HasPrefix(out, "oh\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.run("", "logs", "default/broken"); code != 0 || !strings.HasPrefix(out, "oh\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.run("", "get", "run", run.RunID); code != 0 || !strings.Contains(out, "exit code  3\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := s.run("", "get", "runs", "--status", "failed,lost", "--since", "1h"); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.wantError(exitConflict, "carillon: run "+run.RunID+" has ended already, as failed\n", "", "cancel", run.RunID)

	s.want("default/hello paused\n", "", "pause", "default/hello", "--note", "for now")
	s.want("default/hello resumed\n", "", "resume", "default/hello")
	if code, out, _ := s.run("", "pause", "--all"); code != 0 || !strings.HasPrefix(out, "all jobs are paused since ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, out, _ := s.run("", "get", "jobs"); !strings.Contains(out, "\nall jobs are paused since ") {
		t.Errorf("the list of jobs does not say that none fires: %s", out)
	}
	s.want("all jobs resumed\n", "", "resume", "--all")
	s.want("default/hello deleted\n", "", "delete", "default/hello")
	s.wantError(exitNotFound, "carillon: not found", "", "delete", "default/hello")
	s.wantError(exitNotFound, "carillon: not found: job default/other has not run yet\n", "", "logs", "default/other")
}

func TestARunIsDoneAgainWithOtherParameters(t *testing.T) {
	s := newTerminal(t)
	s.want("created  job  default/pick\n1 created\n", "job: default/pick\nparams: {code: 3}\ntask: {shell: 'exit $(echo $CARILLON_PARAMS | tr -dc 0-9)'}\n", "apply", "-f", "-")
	ended := func(code int, args ...string) (run struct {
		RunID    string `json:"run_id"`
		FireTime string `json:"fire_time"`
		Cause    string `json:"cause"`
		ExitCode int    `json:"exit_code"`
	},
	) {
		t.Helper()
		got, out, errOut := s.run("", append(args, "--wait", "-o", "json")...)
		if err := json.Unmarshal([]byte(out), &run); err != nil || got != code {
			t.Fatalf("carillon %s: exit code %d: %s%s, %v", strings.Join(args, " "), got, out, errOut, err)
		}
		return run
	}
	first := ended(exitRunFailed, "run", "default/pick", "--params", `{"code":4}`)
	again := ended(exitRunFailed, "rerun", first.RunID)
	if again.ExitCode != 4 || again.Cause != "retry" || again.FireTime != first.FireTime {
		t.Errorf("%+v is done again as %+v", first, again)
	}
	ended(0, "rerun", again.RunID, "--param", "code=0", "--version", "same")
	if code, out, _ := s.run("", "get", "runs", "--rerun-of", first.RunID); code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, again.RunID) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, out, _ := s.run("", "get", "run", first.RunID); !strings.Contains(out, "RERUN BY") || !strings.Contains(out, again.RunID) {
		t.Errorf("the run does not say by which it was done again: %s", out)
	}
	if _, out, _ := s.run("", "get", "run", again.RunID); !strings.Contains(out, "rerun of  "+first.RunID) || !strings.Contains(out, `{"code":4}`) {
		t.Errorf("the run does not say which it does again: %s", out)
	}
	s.wantError(exitUsage, "carillon: --param code must be KEY=VALUE", "", "rerun", first.RunID, "--param", "code")

	s.want("run "+first.RunID+" marked as succeeded\n", "", "mark", first.RunID, "--as", "succeeded", "--note", "done by hand")
	s.wantError(exitUsage, "carillon: as \"lost\" must be one of [handled succeeded none]\nSee \"carillon mark --help\".\n", "", "mark", first.RunID, "--as", "lost", "--note", "x")
}

func TestNothingIsHalfApplied(t *testing.T) {
	s := newTerminal(t)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	text := "# two mistakes\njob: default/bad\nschedule:\n  cron: \"0 25 * * *\"\ntimeout: -5s\ntask: {shell: x}\n---\ncalendar: days\ndates:\n  - 02-28\n  - 02-30\n"
	for file, content := range map[string]string{good: twoJobs, bad: text} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.wantError(exitError, "carillon: "+bad+":4: schedule.cron \"0 25 * * *\": hour \"25\" must be a number from 0 to 23\n"+bad+":5: timeout -5s must be between 0 (no limit) and 720h\n", "", "apply", "-f", good, "-f", bad)
	_, _, errOut := s.run("", "apply", "-f", dir)
	for _, part := range []string{bad + ":11: dates[1] ", "\nnothing was changed\n"} {
		if !strings.Contains(errOut, part) {
			t.Errorf("no %q in %s", part, errOut)
		}
	}
	s.want("no jobs\n", "", "get", "jobs")
	s.want("no calendars\n", "", "get", "calendars")
}

// lonely is what is said of a job of group a while that has no executor.
const lonely = "    warning: job is in group a, which has no executor; its runs wait until one is started\n"

func TestChildrenThatLeadBackOrNowhereAreNoticedBeforeAnythingIsSaved(t *testing.T) {
	s := newTerminal(t)
	task := "task: {shell: x}\n"
	s.wantError(exitError, "carillon: stdin:2: children lead back to the job itself: a/one → a/two → a/one\n"+
		"stdin:6: children lead back to the job itself: a/two → a/one → a/two\nnothing was changed\n",
		"job: a/one\nchildren: [a/two]\n"+task+"---\njob: a/two\nchildren: [a/one]\n"+task, "apply", "-f", "-")
	s.want("no jobs\n", "", "get", "jobs")

	s.want("created  job  a/one\n"+lonely+"created  job  a/two\n"+lonely+"2 created\n", "job: a/one\nchildren: [a/two]\n"+task+"---\njob: a/two\n"+task, "apply", "-f", "-")
	s.wantError(exitError, "carillon: stdin:2: children lead back to the job itself: a/three → a/one → a/two → a/three\n"+
		"stdin:6: children lead back to the job itself: a/two → a/three → a/one → a/two\nnothing was changed\n",
		"job: a/three\nchildren: [a/one]\n"+task+"---\njob: a/two\nchildren: [a/three]\n"+task, "apply", "-f", "-")
	s.want("created  job  a/four\n"+lonely+"    warning: children[0].job \"a/typo\" is no job: its run is skipped until there is one\n"+
		"    warning: join[0] \"a/typo\" is no job: what waits for it never runs\n"+
		"    warning: join[1] \"a/two\" does not have this job among its children: what waits for it never runs\n1 created\n",
		"job: a/four\nchildren: [a/typo]\njoin: [a/typo, a/two]\n"+task, "apply", "-f", "-")
}

func TestAChangeShowsThePartInWhichLongTextsDiffer(t *testing.T) {
	f := func(from, to any, want string) {
		t.Helper()
		if got := new(table).fieldChange(client.FieldChange{Field: "f", From: from, To: to}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	long := strings.Repeat("much of it is as it was; ", 10)
	f("a > b && c", "<a>", `~ f: "a > b && c" -> "<a>"`)
	f(long+"exit 1", long+"exit 2", `~ f: …s it was; exit 1" -> …s it was; exit 2"`)
	f("a"+long, "b"+long, `~ f: "amuch of it is as it was; much of it is as it was; much of… -> "bmuch of it is as it was; much of it is as it was; much of…`)
}

func TestPruneDeletesOnlyInTheGroupsOfTheFilesAndAsksFirst(t *testing.T) {
	s := newTerminal(t)
	three := "job: a/one\ntask: {shell: x}\n---\njob: a/two\ntask: {shell: x}\n---\njob: b/three\ntask: {shell: x}\n"
	one := "job: a/one\ntask: {shell: x}\n"
	s.want("created  job  a/one\n"+lonely+"created  job  a/two\n"+lonely+"created  job  b/three\n"+strings.Replace(lonely, "group a", "group b", 1)+"3 created\n", three, "apply", "-f", "-")
	s.wantError(exitUsage, "1 job not in the files, to be deleted:\n  a/two\ncarillon: --prune would delete jobs; confirm with --yes. Nothing was changed", one, "apply", "-f", "-", "--prune")
	s.want("unchanged  job  a/one\n"+lonely+"deleted    job  a/two\n1 deleted, 1 unchanged (dry run: nothing was saved)\n", one, "apply", "-f", "-", "--prune", "--dry-run")
	s.want("unchanged  job  a/one\n"+lonely+"deleted    job  a/two\n1 deleted, 1 unchanged\n", one, "apply", "-f", "-", "--prune", "--yes")
	s.want("unchanged  job  a/one\n"+lonely+"1 unchanged\n", one, "apply", "-f", "-", "--prune")
	if code, _, errOut := s.run("", "get", "job", "b/three"); code != 0 {
		t.Errorf("the other group's job: exit code %d: %s", code, errOut)
	}
}

func TestTheCrontabOfTheExamplesDoesItsWork(t *testing.T) {
	s := newTerminal(t)
	data := t.TempDir()
	t.Setenv("CARILLON_EXAMPLE_DATA", data)
	args := []string{"import", "crontab", "../../examples/crontab", "--dir", "../../examples", "--zone", "Europe/Berlin"}
	code, out, errOut := s.run("", args...)
	if code != exitError || errOut != "carillon: broken and left out: line 34\n" ||
		!strings.HasSuffix(out, "\n7 jobs, 4 settings, 2 skipped, 1 broken; group default, zone Europe/Berlin\n") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
	if code, out, _ := s.run("", args...); code != exitError || strings.Count(out, " unchanged ") != 7 {
		t.Errorf("the second time: exit code %d: %s", code, out)
	}
	for _, name := range []string{"rotate-logs", "backup", "backup-verify", "certificates", "disk-report", "note", "ls"} {
		if code, out, errOut := s.run("", "run", "default/"+name, "--follow"); code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", name, code, out, errOut)
		}
	}
	for _, file := range []string{"backup/files-*.tar.gz", "log/app.log.1.gz", "reports/disk-*.txt", "reports/notes.txt"} {
		if found, err := filepath.Glob(filepath.Join(data, file)); err != nil || len(found) == 0 {
			t.Errorf("there is no %s", file)
		}
	}
}

func TestADumpOfXXLJobIsImportedAndLeavesAloneWhatOthersEdited(t *testing.T) {
	s := newTerminal(t)
	args := []string{"import", "xxl-job", "../../internal/xxljob/testdata/xxl-job.sql", "--zone", "Asia/Shanghai"}
	f := func(sum string, more ...string) {
		t.Helper()
		code, out, errOut := s.run("", append(args, more...)...)
		if code != exitError || !strings.HasSuffix(out, "\n"+sum+"\n") {
			t.Errorf("%q: exit code %d: %s%s", more, code, errOut, out)
		}
	}
	f("5 created, 0 changed, 0 unchanged, 0 conflicts, 1 skipped, 2 broken; zone Asia/Shanghai (dry run: nothing was saved)", "--dry-run")
	f("5 created, 0 changed, 0 unchanged, 0 conflicts, 1 skipped, 2 broken; zone Asia/Shanghai")
	f("0 created, 0 changed, 5 unchanged, 0 conflicts, 1 skipped, 2 broken; zone Asia/Shanghai")
	if code, out, errOut := s.run("", "pause", "billing/invoice-close", "--note", "an audit"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, errOut, out)
	}
	f("0 created, 0 changed, 4 unchanged, 1 conflict, 1 skipped, 2 broken; zone Asia/Shanghai")
	f("0 created, 1 changed, 4 unchanged, 0 conflicts, 1 skipped, 2 broken; zone Asia/Shanghai", "--overwrite")
	f("0 created, 0 changed, 5 unchanged, 0 conflicts, 1 skipped, 2 broken; zone Asia/Shanghai")
}

func TestExampleJobsAreApplied(t *testing.T) {
	s := newTerminal(t)
	if code, out, errOut := s.run("", "apply", "-f", "../../examples/jobs"); code != 0 || !strings.HasSuffix(out, "\n34 created\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestACrontabBecomesDocumentsThatCanBeApplied(t *testing.T) {
	text := "# name: greet\n0 3 * * * cat; echo \"it's 5\\% \"%Hello,%world\n@reboot x\n"
	args := []string{"import", "crontab", "-", "--zone", "UTC", "--dir", "/srv", "-o", "yaml"}
	code, out, errOut := offline(t, text, args...)
	want := `job: default/greet
schedule:
  cron: "0 3 * * *"
  zone: UTC
task:
  shell: "cat; echo \"it's 5% \""
  dir: /srv
  stdin: |
    Hello,
    world
`
	if code != 0 || out != want || !strings.HasPrefix(errOut, "line 3 skipped: ") {
		t.Errorf("exit code %d: %s%s", code, errOut, cmp.Diff(want, out))
	}
}

// One who speaks TLS hangs up on one who does not.
func TestWhoeverIsHungUpOnIsToldOfTLS(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	if code, _, e := offline(t, "", "get", "jobs", "--server", server.URL); code != exitUnavailable || !strings.Contains(e, "uses TLS, set its https:// address") {
		t.Errorf("exit code %d: %s", code, e)
	}
}

func TestExitCodesTellWhatKindOfErrorItWas(t *testing.T) {
	f := func(code int, want string, args ...string) {
		t.Helper()
		got, _, errOut := offline(t, "", args...)
		if got != code || !strings.HasPrefix(errOut, want) {
			t.Errorf("%q: exit code %d, want %d: %s", args, got, code, errOut)
		}
	}
	f(exitUnavailable, "carillon: no answer from http://127.0.0.1:1: ", "get", "jobs", "--server", "127.0.0.1:1")
	f(exitUsage, `carillon: server "ftp://x" must be an address such as http://127.0.0.1:8822`, "get", "jobs", "--server", "ftp://x")
	f(exitUsage, `carillon: unknown command "gte"; did you mean get?`, "gte")
	f(exitUsage, `carillon: unknown command "nodez"; did you mean nodes?`, "get", "nodez")
	f(exitUsage, "carillon: unknown flag: --frobnicate", "get", "jobs", "--frobnicate")
	f(exitUsage, `carillon: invalid argument "xml" for "-o, --output" flag: must be one of table, json, yaml`, "get", "jobs", "-o", "xml")
	f(exitUsage, `carillon: job "a.b/*" has a group that may have only`, "get", "job", "a.b/*")
	f(exitUsage, `carillon: run_id "x" must be a UUIDv7`, "get", "run", "x")
	f(exitUsage, "carillon: name a file", "apply")
	f(exitUsage, `carillon: --since "soon" must be a duration such as 90m or 7d`, "get", "runs", "--since", "soon")
	f(exitError, "carillon: read documents: stat nowhere.yaml: no such file or directory", "apply", "-f", "nowhere.yaml")
	f(exitError, "carillon: no documents in -", "apply", "-f", "-")
	f(0, "", "get")
	f(0, "", "completion", "bash")
	f(0, "", "--help")
}
