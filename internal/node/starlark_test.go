package node

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAStarlarkScriptRunsFromTheCommandLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.star")
	runs := func(source string, args []string, code int, parts ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		got := cli.Execute(t.Context(), cli.NewRoot(Commands()...), append([]string{"starlark", file}, args...), strings.NewReader(""), &out, &out)
		if got != code {
			t.Errorf("%s: exit code %d, want %d", source, got, code)
		}
		for _, p := range parts {
			if !strings.Contains(out.String(), p) {
				t.Errorf("%s: printed %q, want %q in it", source, out.String(), p)
			}
		}
	}
	runs(`print("region", params["region"])`, []string{`{"region": "north"}`}, 0, "region north\n")
	runs(`result = [params, run.index, run.total]`, []string{"north", "2", "5"}, 0, `["north",2,5]`)
	runs(`fail("no rows")`, nil, cli.ExitError, "report.star:1:5", "no rows")
	runs(`http("GET", "http://127.0.0.1:1")`, nil, cli.ExitError, "is a private address")
	runs(`http("GET", "http://127.0.0.1:1")`, []string{"--no-http"}, cli.ExitError, "not allowed")

	result := filepath.Join(t.TempDir(), "result")
	t.Setenv("CARILLON_RESULT_FILE", result)
	t.Setenv("CARILLON_PARAMS", `"5"`) // where the argument could be a number
	runs(`result = params`, []string{"5"}, 0)
	if got, err := os.ReadFile(result); err != nil || string(got) != `"5"` {
		t.Errorf("result %q, %v", got, err)
	}
}

func TestAScriptThatNestsTooDeeplyIsEnded(t *testing.T) {
	if file := os.Getenv("CARILLON_TEST_STARLARK"); file != "" { // the process that is to be ended
		os.Exit(cli.Execute(t.Context(), cli.NewRoot(Commands()...), []string{"starlark", "--memory", "4096", file}, strings.NewReader(""), os.Stdout, os.Stderr))
	}
	file := filepath.Join(t.TempDir(), "deep.star")
	if err := os.WriteFile(file, []byte(`json.decode("[" * 3000000)`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "CARILLON_TEST_STARLARK="+file)
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != cli.ExitError || string(out) != "the script nests too deeply\n" {
		t.Errorf("%v, printed %.300q", err, out)
	}
}

func TestAllowTakesKindsAndLanguages(t *testing.T) {
	f := func(allow, kinds, languages string) {
		t.Helper()
		o := runnerOptions{allow: strings.Split(allow, ",")}
		gotKinds, gotLanguages, err := o.split()
		if err != nil || strings.Join(gotKinds, ",") != kinds || strings.Join(gotLanguages, ",") != languages {
			t.Errorf("%s: %v and %v, %v; want %s and %s", allow, gotKinds, gotLanguages, err, kinds, languages)
		}
	}
	all := strings.Join(job.Interpreted, ",")
	f("shell,http", "shell,http", "")
	f("http,starlark", "http,script", "starlark")
	f("script", "script", all)
	f("script,python", "script", all)
	for _, language := range []string{"cobol", "groovy"} { // which only executors of XXL-JOB run
		o := runnerOptions{allow: []string{language}}
		if _, _, err := o.split(); err == nil || !strings.Contains(err.Error(), `allow "`+language+`" must be one of`) {
			t.Error(err)
		}
	}
}
