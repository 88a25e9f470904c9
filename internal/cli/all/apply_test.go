package all_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestNothingIsHalfApplied(t *testing.T) {
	s := clitest.New(t)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	text := "# two mistakes\njob: default/bad\nschedule:\n  cron: \"0 25 * * *\"\ntimeout: -5s\ntask: {shell: x}\n---\ncalendar: days\ndates:\n  - 02-28\n  - 02-30\n"
	for file, content := range map[string]string{good: clitest.TwoJobs, bad: text} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.WantError(cli.ExitError, "carillon: "+bad+":4: schedule.cron \"0 25 * * *\": hour \"25\" must be a number from 0 to 23\n"+bad+":5: timeout -5s must be between 0 (no limit) and 720h\n", "", "apply", "-f", good, "-f", bad)
	_, _, errOut := s.Run("", "apply", "-f", dir)
	for _, part := range []string{bad + ":11: dates[1] ", "\nnothing was changed\n"} {
		if !strings.Contains(errOut, part) {
			t.Errorf("no %q in %s", part, errOut)
		}
	}
	s.Want("no jobs\n", "", "get", "jobs")
	s.Want("no calendars\n", "", "get", "calendars")
}

func TestARefusedApplyOrImportSaysThatNothingWasChanged(t *testing.T) {
	s := clitest.New(t)
	const job = "job: a/one\ntask: {shell: x}\n"
	f := func(stdin string, args ...string) {
		t.Helper()
		code, out, errOut := s.Run(stdin, args...)
		if code == 0 || !strings.Contains(errOut, "\nnothing was changed\n") || strings.Count(errOut, "nothing was changed") != 1 {
			t.Errorf("%q: exit code %d\n%s%s", args, code, out, errOut)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, stdin := range []string{
		"", job + "shedule: {}\n", job + "---\n" + job, job + "timeout: \"x\n", job + "---\nkind: CronJob\n", job + "timeout: -5s\n",
		job + "---\ncalendar: days\ndates: [02-30]\n", job + "\xe9\n", job + "schedule: {cron: '0 9 * * *', except: [typo]}\n",
	} {
		f(stdin, "apply", "-f", "-")
		f(stdin, "apply", "-f", "-", "--dry-run")
	}
	f("", "apply", "-f", missing)
	f("0 1 * * * caf\xe9\n", "import", "crontab", "-")
	f("", "import", "crontab", missing)
	f("0 1 * * * root x\n0 1 * * * /bin/x\n", "import", "crontab", "-")
	f("0 1 * * * x\n", "import", "crontab", "-", "--group", "Bad Group")
	f("", "import", "xxl-job", missing)
	f("no dump", "import", "xxl-job", "-")
	f("{}", "import", "powerjob", "-", "--group", "a")
	f("no calendar", "import", "calendar", "-", "--name", "days")
	f("", "import", "calendar", missing, "--name", "days")
	s.Want("no jobs\n", "", "get", "jobs")

	s.Want("created  job  a/one\n"+lonely+"1 created\n", job, "apply", "-f", "-")
	const half = "0 1 * * * x\nbroken\n"
	if code, _, errOut := s.Run(half, "import", "crontab", "-", "--group", "a"); code != cli.ExitError || strings.Contains(errOut, "nothing was changed") {
		t.Errorf("an import that saves one of two lines: exit code %d: %s", code, errOut)
	}
	f(half, "import", "crontab", "-", "--group", "a") // its job is as it was
}

// lonely is what is said of a job of group a while that has no executor.
const lonely = "    warning: job is in group a, which has no executor; its runs wait until one is started\n"

func TestChildrenThatLeadBackOrNowhereAreNoticedBeforeAnythingIsSaved(t *testing.T) {
	s := clitest.New(t)
	task := "task: {shell: x}\n"
	s.WantError(cli.ExitError, "carillon: stdin:2: children lead back to the job itself: a/one → a/two → a/one\n"+
		"stdin:6: children lead back to the job itself: a/two → a/one → a/two\nnothing was changed\n",
		"job: a/one\nchildren: [a/two]\n"+task+"---\njob: a/two\nchildren: [a/one]\n"+task, "apply", "-f", "-")
	s.Want("no jobs\n", "", "get", "jobs")

	s.Want("created  job  a/one\n"+lonely+"created  job  a/two\n"+lonely+"2 created\n", "job: a/one\nchildren: [a/two]\n"+task+"---\njob: a/two\n"+task, "apply", "-f", "-")
	s.WantError(cli.ExitError, "carillon: stdin:2: children lead back to the job itself: a/three → a/one → a/two → a/three\n"+
		"stdin:6: children lead back to the job itself: a/two → a/three → a/one → a/two\nnothing was changed\n",
		"job: a/three\nchildren: [a/one]\n"+task+"---\njob: a/two\nchildren: [a/three]\n"+task, "apply", "-f", "-")
	s.Want("created  job  a/four\n"+lonely+"    warning: children[0].job names job a/typo, which does not exist, or which you may not see; until it exists, it is not run\n"+
		"1 created\n",
		"job: a/four\nchildren: [a/typo]\n"+task, "apply", "-f", "-")
	s.WantError(cli.ExitError, "carillon: stdin:2: join has been replaced by workflows: write steps with \"join\"; see docs/how-to/workflows.md\nnothing was changed\n",
		"job: a/five\njoin: [a/one, a/two]\n"+task, "apply", "-f", "-")
}

func TestUnknownNamesAreNoticed(t *testing.T) {
	s := clitest.New(t)
	const unknown = ", which does not exist, or which you may not see\n"
	const rule = "alert: x\nchannels: []\nmatch: {groups: [a, b], jobs: [a/new, a/typo]}\n"
	s.Want("created  alert  x\n    warning: match.groups[1] names group b"+unknown+"    warning: match.jobs[1] names job a/typo"+unknown+
		"created  job    a/new\n"+lonely+"2 created\n", rule+"---\njob: a/new\ntask: {shell: x}\n", "apply", "-f", "-")
	f := func(want string, args ...string) {
		t.Helper()
		if code, out, errOut := s.Run("", args...); code != 0 || errOut != want {
			t.Errorf("carillon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
		}
	}
	f("warning: job names job a/typo"+unknown, "alert", "silence", "--job", "a/typo", "--for", "1h")
	f("warning: alert names alert rule y, which does not exist\n", "alert", "silence", "--rule", "y", "--for", "1h")
	f("", "alert", "silence", "--rule", "x", "--for", "1h")
	f("warning: access[0].group names group b"+unknown, "user", "create", "ann", "--role", "viewer:b", "--no-link")
}

func TestPruneDeletesOnlyInTheGroupsOfTheFilesAndAsksFirst(t *testing.T) {
	s := clitest.New(t)
	three := "job: a/one\ntask: {shell: x}\n---\njob: a/two\ntask: {shell: x}\n---\njob: b/three\ntask: {shell: x}\n"
	one := "job: a/one\ntask: {shell: x}\n"
	s.Want("created  job  a/one\n"+lonely+"created  job  a/two\n"+lonely+"created  job  b/three\n"+strings.Replace(lonely, "group a", "group b", 1)+"3 created\n", three, "apply", "-f", "-")
	s.WantError(cli.ExitUsage, "1 job not in the files, to be deleted:\n  a/two\ncarillon: --prune would delete jobs; confirm with --yes\nnothing was changed", one, "apply", "-f", "-", "--prune")
	s.Want("unchanged  job  a/one\n"+lonely+"deleted    job  a/two\n1 deleted, 1 unchanged (dry run: nothing was saved)\n", one, "apply", "-f", "-", "--prune", "--dry-run")
	s.Want("unchanged  job  a/one\n"+lonely+"deleted    job  a/two\n1 deleted, 1 unchanged\n", one, "apply", "-f", "-", "--prune", "--yes")
	s.Want("unchanged  job  a/one\n"+lonely+"1 unchanged\n", one, "apply", "-f", "-", "--prune")
	if code, _, errOut := s.Run("", "get", "jobs", "b/three"); code != 0 {
		t.Errorf("the other group's job: exit code %d: %s", code, errOut)
	}
}

func TestADryRunCanFailIfFilesAndServerDiffer(t *testing.T) {
	s := clitest.New(t)
	two := "job: a/one\ntask: {shell: x}\n---\njob: a/two\ntask: {shell: x}\n"
	s.WantError(cli.ExitDiffers, "", two, "apply", "-f", "-", "--dry-run", "--exit-code")
	s.Want("created  job  a/one\n"+lonely+"created  job  a/two\n"+lonely+"2 created\n", two, "apply", "-f", "-")
	s.Want("unchanged  job  a/one\n"+lonely+"unchanged  job  a/two\n"+lonely+"2 unchanged (dry run: nothing was saved)\n", two, "apply", "-f", "-", "--dry-run", "--exit-code")
	one, edited := "job: a/one\ntask: {shell: x}\n", strings.Replace(two, "shell: x", "shell: y", 1)
	s.WantError(cli.ExitDiffers, "", edited, "apply", "-f", "-", "--dry-run", "--exit-code")
	s.WantError(cli.ExitDiffers, "", one, "apply", "-f", "-", "--dry-run", "--exit-code", "--prune")
	s.WantError(cli.ExitUsage, "carillon: --exit-code is for --dry-run", one, "apply", "-f", "-", "--exit-code")
}

func TestAnEditedCrontabLeavesNoJobBehindUnnoticed(t *testing.T) {
	s := clitest.New(t)
	first := "# name: a\n0 1 * * * /opt/report.sh --a\n# name: b\n0 2 * * * /opt/report.sh --b\n"
	second := "# name: b\n0 5 * * * /opt/report.sh --b\n"
	run := func(text string, args []string, parts ...string) {
		t.Helper()
		code, out, errOut := s.Run(text, append([]string{"import", "crontab", "-", "--dir", "/x"}, args...)...)
		for _, part := range parts {
			if code != 0 || !strings.Contains(out, part) {
				t.Errorf("exit code %d: no %q in\n%s%s", code, part, out, errOut)
			}
		}
	}
	run(first, nil, "2 jobs")
	if code, _, errOut := s.Run("job: default/own\ntask: {shell: x}\n", "apply", "-f", "-"); code != 0 {
		t.Error(errOut)
	}
	run(second, nil, "default/b", "default/a  no line of the file makes it any more, and it still fires")
	run(second, []string{"--prune", "--dry-run"}, "default/a  no line", "nothing was saved")
	run(second, []string{"--prune"}, "deleted", "default/a  no line")
	if code, out, _ := s.Run("", "get", "jobs"); code != 0 || strings.Contains(out, "default/a ") || !strings.Contains(out, "default/b") || !strings.Contains(out, "default/own") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestAnImportWarnsOfSchedulesThatManyPeopleMeanOtherwise(t *testing.T) {
	s := clitest.New(t)
	const (
		text = "# name: often\n*/90 * * * * /opt/x\n# name: plain\n0 3 * * * /opt/y\n"
		rest = `has "*/90", which stands for 0 and starts again each time; use fixed_rate for a fire every 90m`
	)
	args := []string{"import", "crontab", "-", "--dir", "/x"}
	args = slices.Clip(args)
	if code, out, errOut := s.Run(text, append(args, "--dry-run")...); code != 0 || strings.Count(out, "warning:") != 1 {
		t.Errorf("exit code %d: %s\n%s", code, errOut, out)
	}
	if code, _, errOut := s.Run(text, append(args, "-o", "yaml")...); code != 0 || errOut != "default/often: warning: schedule.cron "+rest+"\n" {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if code, out, errOut := s.Run(text, args...); code != 0 || !strings.Contains(out, "    warning: schedule.cron "+rest) {
		t.Errorf("exit code %d: %s\n%s", code, errOut, out)
	}
	if code, out, errOut := s.Run(text, append(args, "--group", "nobody")...); code != 0 || strings.Count(out, "which has no executor") != 1 {
		t.Errorf("exit code %d: %s\n%s", code, errOut, out)
	}
	if code, out, errOut := s.Run("", "next", "default/often"); code != 0 || out == "" || errOut != "warning: schedule.cron "+rest+"\n" {
		t.Errorf("exit code %d: %s\n%s", code, errOut, out)
	}
}

func TestADurationIsTheSameHoweverItIsWritten(t *testing.T) {
	s := clitest.New(t)
	apply := func(duration, want string) {
		t.Helper()
		code, out, errOut := s.Run("job: ops/a\nschedule: {fixed_rate: "+duration+"}\ntimeout: "+duration+"\ntask: {shell: x}\n", "apply", "-f", "-")
		if code != 0 || !strings.HasSuffix(out, want+"\n") {
			t.Errorf("%s: exit code %d: %s\n%s", duration, code, errOut, out)
		}
	}
	apply("90m", "1 created")
	for _, same := range []string{"1h30m", "1.5h", "5400s", "1h30m0s", "90m"} {
		apply(same, "1 unchanged")
	}
	apply("0.5h", "1 changed")
	apply("1800s", "1 unchanged")
	apply("30m", "1 unchanged")
	if code, out, _ := s.Run("", "get", "job", "ops/a", "-o", "yaml"); code != 0 || !strings.Contains(out, "fixed_rate: \"30m\"\n") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

func TestTheCrontabOfTheExamplesDoesItsWork(t *testing.T) {
	s := clitest.Alone(t)
	data := t.TempDir()
	t.Setenv("CARILLON_EXAMPLE_DATA", data)
	args := []string{"import", "crontab", "../../../examples/crontab", "--dir", "../../../examples", "--zone", "Europe/Berlin"}
	code, out, errOut := s.Run("", args...)
	if code != cli.ExitError || errOut != "carillon: broken and left out: line 34\n" ||
		!strings.HasSuffix(out, "\n7 jobs, 4 settings, 2 skipped, 1 broken; group default, zone Europe/Berlin\n") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
	if code, out, _ := s.Run("", args...); code != cli.ExitError || strings.Count(out, " unchanged ") != 7 {
		t.Errorf("the second time: exit code %d: %s", code, out)
	}
	names := regexp.MustCompile(`default/\S+`).FindAllString(out, -1)
	if len(names) != 7 {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		name = strings.TrimPrefix(name, "default/")
		if code, out, errOut := s.Run("", "run", "default/"+name, "--follow"); code != 0 {
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
	s := clitest.New(t)
	args := []string{"import", "xxl-job", "../../../internal/xxljob/testdata/xxl-job.sql", "--zone", "Asia/Shanghai"}
	f := func(sum string, more ...string) {
		t.Helper()
		code, out, errOut := s.Run("", append(args, more...)...)
		if code != cli.ExitError || !strings.HasSuffix(out, "\n"+sum+"\n") {
			t.Errorf("%q: exit code %d: %s%s", more, code, errOut, out)
		}
	}
	f("6 created, 0 changed, 0 unchanged, 0 conflicts, 0 skipped, 2 broken; zone Asia/Shanghai (dry run: nothing was saved)", "--dry-run")
	f("6 created, 0 changed, 0 unchanged, 0 conflicts, 0 skipped, 2 broken; zone Asia/Shanghai")
	f("0 created, 0 changed, 6 unchanged, 0 conflicts, 0 skipped, 2 broken; zone Asia/Shanghai")
	edited := "job: billing/invoice-close\ntask: {handler: invoiceClose}\n"
	if code, out, errOut := s.Run(edited, "apply", "-f", "-"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, errOut, out)
	}
	f("0 created, 0 changed, 5 unchanged, 1 conflict, 0 skipped, 2 broken; zone Asia/Shanghai")
	f("0 created, 1 changed, 5 unchanged, 0 conflicts, 0 skipped, 2 broken; zone Asia/Shanghai", "--overwrite")
	packed := filepath.Join(t.TempDir(), "dump.sql.gz")
	pack(t, args[2], packed)
	args[2] = packed
	f("0 created, 0 changed, 6 unchanged, 0 conflicts, 0 skipped, 2 broken; zone Asia/Shanghai")
}

func TestAnImportFromXXLJobListsTheJobsThatItsDumpHasNoMore(t *testing.T) {
	s := clitest.New(t)
	dump, err := os.ReadFile("../../../internal/xxljob/testdata/xxl-job.sql")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"import", "xxl-job", "-", "--zone", "Asia/Shanghai"}
	if _, out, errOut := s.Run(string(dump), args...); !strings.Contains(out, "6 created") || strings.Contains(out, "left over") {
		t.Fatalf("%s%s", errOut, out)
	}
	if code, out, errOut := s.Run("job: billing/own\ntask: {handler: own}\n", "apply", "-f", "-"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, errOut, out)
	}
	renamed := strings.ReplaceAll(string(dump), "invoiceClose", "closeOfInvoices")
	_, out, errOut := s.Run(renamed, append(args, "--dry-run")...)
	left := regexp.MustCompile(`-\s+left over\s+(\S+)\s+.*not in this file`).FindAllStringSubmatch(out, -1)
	if len(left) != 2 || left[0][1] != "billing/invoice-close" || left[1][1] != "billing/invoice-close-3" { // the handler of two
		t.Errorf("%s%s", errOut, out)
	}
}

func TestImportedJobsCanBeSavedPaused(t *testing.T) {
	s := clitest.New(t)
	paused := func() string {
		_, out, _ := s.Run("", "get", "jobs", "--paused", "-o", "name")
		return out
	}
	dump := []string{"import", "xxl-job", "../../../internal/xxljob/testdata/xxl-job.sql", "--zone", "Asia/Shanghai"}
	_, out, errOut := s.Run("", append(dump, "--paused")...)
	if !strings.Contains(out, "6 created") || !strings.Contains(out, "; saved paused\n") || strings.Count(out, "stopped in XXL-JOB") != 1 {
		t.Fatalf("%s%s", errOut, out)
	}
	const stopped, active = "xxl-job-executor-sample/demo-job-handler\n", "billing/invoice-close\n"
	all := paused()
	if strings.Count(all, "\n") != 5 || !strings.Contains(all, stopped) || !strings.Contains(all, active) { // one of six has no schedule
		t.Errorf("paused: %s", all)
	}
	s.Run("", dump...)
	if again := paused(); again != all {
		t.Errorf("after an import without --paused, these are paused: %s", again)
	}
	s.Want("billing/invoice-close resumed\n", "", "resume", "billing/invoice-close")
	s.Run("", dump...)
	if again := paused(); strings.Contains(again, active) {
		t.Errorf("the next import pauses what was resumed: %s", again)
	}
	if _, out, _ := s.Run("", append(dump, "--paused", "-o", "json")...); strings.Count(out, `"paused":true`)+strings.Count(out, `"paused": true`) != 5 {
		t.Errorf("documents: %s", out)
	}
	if code, out, errOut := s.Run("0 1 * * * /bin/x\n", "import", "crontab", "-", "--group", "cron", "--paused"); code != 0 || !strings.HasSuffix(out, "; saved paused\n") || !strings.Contains(paused(), "cron/x-") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
}

// pack writes a file as gzip does.
func pack(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestExampleJobsAreApplied(t *testing.T) {
	s := clitest.New(t)
	if code, out, errOut := s.Run("", "apply", "-f", "../../../examples/jobs"); code != 0 || !strings.HasSuffix(out, "\n43 created\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := s.Run("", "apply", "-f", "../../../examples/calendars"); code != 0 || !strings.HasSuffix(out, "\n1 created\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if code, out, errOut := s.Run("", "apply", "-f", "../../../examples/river/jobs.yaml"); code != 0 || !strings.HasSuffix(out, "\n3 created\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestACrontabBecomesDocumentsThatCanBeApplied(t *testing.T) {
	text := "# name: greet\n0 3 * * * cat; echo \"it's 5\\% \"%Hello,%world\n@reboot x\n"
	args := []string{"import", "crontab", "-", "--zone", "UTC", "--dir", "/srv", "-o", "yaml"}
	code, out, errOut := clitest.Offline(t, text, args...)
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

func TestApplyKeepsWhatIsDisabledUnlessADocumentSaysOtherwise(t *testing.T) {
	s := clitest.New(t)
	const documents = "alert: failures\nchannels: []\n---\nchannel: ops\nkind: slack\n"
	disabled := strings.NewReplacer("channels:", "disabled: true\nchannels:", "kind:", "disabled: true\nkind:").Replace(documents)
	s.Want("created  alert    failures\ncreated  channel  ops\n2 created\n", disabled, "apply", "-f", "-")
	s.Want("unchanged  alert    failures\nunchanged  channel  ops\n2 unchanged (dry run: nothing was saved)\n", documents, "apply", "-f", "-", "--dry-run", "--exit-code")
	s.Want("changed    alert    failures\n    + description: \"d\"\nunchanged  channel  ops\n1 changed, 1 unchanged\n", "description: d\n"+documents, "apply", "-f", "-")
	s.Want("unchanged  alert    failures\nunchanged  channel  ops\n2 unchanged\n", "description: d\n"+disabled, "apply", "-f", "-")
	s.Want("changed  alert    failures\n    - description: \"d\"\n    - disabled: true\nchanged  channel  ops\n    - disabled: true\n2 changed\n",
		strings.ReplaceAll(disabled, "disabled: true", "disabled: false"), "apply", "-f", "-")

	s.Want("user ann created: viewer\n", "", "user", "create", "ann", "--role", "viewer", "--name", "Ann Lee", "--no-link")
	s.Want("user ann disabled: viewer\n", "", "user", "disable", "ann")
	s.Want("user ann changed: operator\n", "", "user", "set-role", "ann", "--role", "operator")
	if _, out, _ := s.Run("", "get", "users"); !strings.Contains(out, "Ann Lee") || !strings.Contains(out, "disabled") {
		t.Errorf("another role changes more of the user:\n%s", out)
	}
}

func TestADryRunChecksRulesAsApplyDoes(t *testing.T) {
	s := clitest.New(t)
	const (
		rule    = "alert: r\nchannels: [ops]\nmatch: {groups: [a, biling], jobs: [a/one, a/gone]}\n"
		channel = "---\nchannel: ops\nkind: slack\n"
		one     = "---\njob: a/one\ntask: {shell: x}\n"
		gone    = "    warning: match.groups[1] names group biling, which does not exist, or which you may not see\n"
	)
	const lacks = "carillon: stdin:2: channels[0] \"ops\" is not a channel; make it first\nnothing was changed\n"
	s.WantError(cli.ExitError, lacks, rule, "apply", "-f", "-", "--dry-run")
	s.WantError(cli.ExitError, lacks, rule+one, "apply", "-f", "-")
	s.WantError(cli.ExitNotFound, "", "", "get", "jobs", "a/one") // nothing is half done
	for _, args := range [][]string{{"--dry-run"}, nil} {
		code, out, errOut := s.Run(rule+channel+one, append([]string{"apply", "-f", "-"}, args...)...)
		if code != 0 || !strings.Contains(out, gone) || strings.Count(out, "match.") != 2 {
			t.Errorf("apply %q: exit code %d: %s%s", args, code, out, errOut)
		}
	}
}
