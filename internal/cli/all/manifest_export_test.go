package all_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestWhatIsExportedIsWhatApplySaved(t *testing.T) {
	s := clitest.New(t)
	channel := "channel: oncall\nkind: webhook\nurl: https://hooks.example.org/x\n---\n"
	if code, out, errOut := s.Run(channel, "apply", "-f", "-", "-f", "../../../examples/jobs", "-f", "../../../examples/calendars", "-f", "../../../examples/alerts"); code != 0 {
		t.Fatal(code, out, errOut)
	}
	unchanged := func(stdin, from string) {
		t.Helper()
		code, out, errOut := s.Run(stdin, "apply", "-f", from, "--dry-run")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		last := lines[len(lines)-1]
		if code != 0 || !strings.HasSuffix(last, " unchanged (dry run: nothing was saved)") || strings.Contains(last, ",") {
			t.Errorf("apply of what was exported: exit code %d, %s\n%s", code, last, errOut)
		}
		for _, kind := range []string{"job", "calendar", "channel", "alert"} {
			if !strings.Contains(out, "unchanged  "+kind) {
				t.Errorf("no %s was exported:\n%s", kind, out)
			}
		}
	}
	code, all, errOut := s.Run("", "export")
	if code != 0 {
		t.Fatal(code, errOut)
	}
	unchanged(all, "-")

	dir := filepath.Join(t.TempDir(), "scheduler")
	if code, out, errOut := s.Run("", "export", "--dir", dir); code != 0 || !strings.HasSuffix(out, " files written below "+dir+"\n") {
		t.Fatal(code, out, errOut)
	}
	unchanged("", dir)
	for _, file := range []string{"jobs/default/nightly.yaml", "calendars/cn-days-off.yaml", "channels/oncall.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

func TestTheJobsOfAGroupAreExported(t *testing.T) {
	s := clitest.New(t)
	text := "job: a/two\ntask:\n  shell: x\n---\njob: a/one\ntask:\n  shell: x\n---\njob: b/three\ntask:\n  shell: x\n"
	if code, out, errOut := s.Run(text, "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, errOut)
	}
	one := "schedule:\n  zone: UTC\nmisfire:\n  policy: fire_once\n  grace: \"15s\"\ndelivery: at_least_once\nroute: any\noverlap:\n  policy: allow\ntask:\n  shell: x\n"
	s.Want("job: a/one\n"+one+"---\njob: a/two\n"+one, "", "export", "--group", "a")
	s.Want("", "", "export", "jobs", "--group", "c")
	s.WantError(cli.ExitUsage, "carillon: --group is for jobs only\n", "", "export", "channels", "--group", "a")
	s.WantError(cli.ExitUsage, "carillon: invalid argument \"rules\" for \"carillon export\"\n", "", "export", "rules")
}

// answering is a server that answers every question with the same page of jobs.
func answering(t *testing.T, page string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAJobWithHiddenValuesIsNotExported(t *testing.T) {
	s := answering(t, `{"items": [
		{"definition": {"job": "a/open", "version": 1, "task": {"shell": "x"}}, "revision": 1},
		{"definition": {"job": "a/shut", "version": 1, "task": {"shell": "(hidden)"}}, "revision": 2}]}`)
	code, out, errOut := clitest.Offline(t, "", "export", "jobs", "--server", s.URL)
	want := "carillon: job a/shut has values that are hidden from you; a user with the rights params, scripts and secrets in its group can export it. Nothing was written\n"
	if code != cli.ExitError || out != "" || errOut != want {
		t.Errorf("exit code %d, output %q\n%s", code, out, cmp.Diff(want, errOut))
	}
}

func TestAServerCannotNameAFileElsewhere(t *testing.T) {
	s := answering(t, `{"items": [{"definition": {"job": "../../outside", "version": 1, "task": {"shell": "x"}}, "revision": 1}]}`)
	dir := t.TempDir()
	code, out, errOut := clitest.Offline(t, "", "export", "jobs", "--server", s.URL, "--dir", filepath.Join(dir, "in"))
	if code != cli.ExitError || out != "" || !strings.Contains(errOut, "path escapes") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if _, err := os.Stat(filepath.Join(dir, "outside.yaml")); err == nil {
		t.Error("a file was written outside of the folder")
	}
}
