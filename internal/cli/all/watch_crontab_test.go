package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const toWatch = "# of ada\nSHELL=/bin/bash\n\n0 3 * * * /opt/backup --all\n30 2 * * 1-5\tmail -s x%it's%\n"

const watchedByHand = "# of ada\nSHELL=/bin/bash\n\n0 3 * * * /bin/carillon watch ops/backup-322040 -c '/opt/backup --all'\n" +
	"30 2 * * 1-5\t/bin/carillon watch ops/mail-09415b -c 'mail -s x'%it's%\n"

// watchArgs import a crontab of standard input.
func watchArgs(more ...string) []string {
	return append([]string{"import", "crontab", "-", "--watch", "--group", "ops", "--zone", "UTC", "--program", "/bin/carillon", "--no-host"}, more...)
}

func TestACrontabIsWatchedAndUnwatched(t *testing.T) {
	s := clitest.New(t)
	code, out, errOut := s.Run(toWatch, watchArgs()...)
	if code != 0 || out != watchedByHand {
		t.Fatalf("exit code %d: %s%s", code, errOut, cmp.Diff(watchedByHand, out))
	}
	for _, part := range []string{"LINE  OUTCOME", "4     wrapped, created  ops/backup-", "/opt/backup --all", "2 lines wrapped, 0 left alone, 0 broken; group ops, zone UTC\n"} {
		if !strings.Contains(errOut, part) {
			t.Errorf("the table has no %q:\n%s", part, errOut)
		}
	}
	name := out[strings.Index(out, "ops/backup"):strings.Index(out, " -c '/opt")]
	_, doc, _ := s.Run("", "get", "job", name, "-o", "yaml")
	for _, part := range []string{`cron: "0 3 * * *"`, "watch:", `grace: "10m"`, "description: Line 4 of the crontab on "} {
		if !strings.Contains(doc, part) {
			t.Errorf("the job has no %q:\n%s", part, doc)
		}
	}
	if strings.Contains(doc, "/opt/backup") {
		t.Errorf("the command went to the server:\n%s", doc)
	}

	// What people set on the server stays, and the same bytes come.
	s.Run("", "change", name, "--set", "timeout=2h", "--yes")
	code, out, errOut = s.Run(watchedByHand, watchArgs("--grace", "1h")...)
	if code != 0 || out != watchedByHand || strings.Count(errOut, "wrapped, unchanged") != 2 {
		t.Errorf("exit code %d: %s%s", code, errOut, cmp.Diff(watchedByHand, out))
	}
	if _, doc, _ = s.Run("", "get", "job", name, "-o", "yaml"); !strings.Contains(doc, `timeout: "2h"`) || !strings.Contains(doc, `grace: "10m"`) {
		t.Errorf("what was set is gone:\n%s", doc)
	}

	// A line that moved, and one that is gone.
	moved := strings.Replace(watchedByHand, "0 3 * * *", "0 4 * * *", 1)
	moved, _, _ = strings.Cut(moved, "30 2")
	code, out, errOut = s.Run(moved, watchArgs()...)
	if code != 0 || out != moved || !strings.Contains(errOut, "wrapped, changed") || !strings.Contains(errOut, "left over         ops/mail-") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}

	code, out, errOut = clitest.Offline(t, watchedByHand, "import", "crontab", "-", "--unwatch")
	if code != 0 || out != toWatch || !strings.Contains(errOut, "2 lines unwrapped") {
		t.Errorf("exit code %d: %s%s", code, errOut, cmp.Diff(toWatch, out))
	}
}

func TestOnAnyErrorACrontabIsPrintedAsItWas(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run("job: ops/backup-322040\ntask: {shell: x}\n", "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	f := func(why string, args ...string) {
		t.Helper()
		code, out, errOut := s.Run(toWatch, args...)
		if code == 0 || out != toWatch || !strings.Contains(errOut, why) {
			t.Errorf("%q: exit code %d: %s%s", args, code, errOut, cmp.Diff(toWatch, out))
		}
	}
	f("its runs are not done elsewhere", watchArgs()...)
	f("unknown flag: --wach", "import", "crontab", "-", "--wach")
	f("unknown flag: --wach", "import", "crontab", "--wach", "-")
	f("accepts 1 arg(s)", append(watchArgs(), "more")...)
	f("none of the others can be", watchArgs("--unwatch")...)
	f("is not a time zone", watchArgs("--zone", "Mars")...)
	f("group", watchArgs("--group", "Not good")...)
	f("cannot be written to a crontab", watchArgs("--program", "/a b/carillon")...)
	f("--in-place needs a file", watchArgs("--in-place")...)
	f("nothing was changed", watchArgs("--token", "wrong", "--ca", "/no/such")...)
	args := watchArgs("--server", "http://127.0.0.1:1")
	if code, out, errOut := clitest.Offline(t, toWatch, args...); code == 0 || out != toWatch || !strings.Contains(errOut, "no answer from") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
	if code, out, _ := s.Run(toWatch, append(watchArgs("--group", "dry"), "--dry-run")...); code != 0 || out != strings.ReplaceAll(watchedByHand, "ops/", "dry/") {
		t.Errorf("a dry run: exit code %d: %s", code, out)
	}
	s.Want("no jobs\n", "", "get", "jobs", "--group", "dry")
}

func TestCrontabsOfAFolderAreWatchedInPlace(t *testing.T) {
	s := clitest.New(t)
	dir := filepath.Join(t.TempDir(), "cron.d")
	files := map[string]string{"a": "0 1 * * * root /opt/a\n", "b": "# name: bee\n0 2 * * *\tdaemon\t/opt/b", "c.bak": "0 3 * * * root /opt/c\n"}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, text := range files {
		write(name, text)
	}
	args := []string{"import", "crontab", dir, "--watch", "--group", "cron", "--zone", "UTC", "--program", "/bin/carillon", "--no-host"}
	s.WantError(cli.ExitUsage, "carillon: "+dir+" is a directory; choose --out-dir DIRECTORY or --in-place\n", "", args...)
	code, out, errOut := s.Run("", append(args, "--in-place")...)
	if code != 0 || out != "" || !strings.Contains(errOut, "b:2   wrapped, created  cron/bee") {
		t.Fatalf("exit code %d: %s%s", code, out, errOut)
	}
	if got := read("b"); got != "# name: bee\n0 2 * * *\tdaemon\t/bin/carillon watch cron/bee -c '/opt/b'" {
		t.Errorf("b is %q", got)
	}
	if read("c.bak") != files["c.bak"] || read(".a.carillon-backup") != files["a"] {
		t.Error("a file that cron does not read was changed, or there is no copy")
	}
	if info, err := os.Stat(filepath.Join(dir, "a")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a has mode %v, %v", info.Mode(), err)
	}
	elsewhere := t.TempDir()
	if code, _, errOut := clitest.Offline(t, "", "import", "crontab", dir, "--unwatch", "--out-dir", elsewhere); code != 0 {
		t.Error(errOut)
	}
	if got, err := os.ReadFile(filepath.Join(elsewhere, "a")); err != nil || string(got) != files["a"] {
		t.Errorf("a is %q, %v", got, err)
	}
}

func TestJobsOfACrontabArePrintedAsDocuments(t *testing.T) {
	code, out, errOut := clitest.Offline(t, toWatch, watchArgs("-o", "yaml")...)
	if code != 0 || strings.Count(out, "watch:\n") != 2 || strings.Contains(out, "/opt") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
}
