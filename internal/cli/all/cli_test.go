package all_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

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
	if code, _, e := clitest.Offline(t, "", "get", "jobs", "--server", server.URL); code != cli.ExitUnavailable || !strings.Contains(e, "uses TLS, set its https:// address") {
		t.Errorf("exit code %d: %s", code, e)
	}
}

func TestContextsAreListedByName(t *testing.T) {
	t.Setenv("CARILLON_CONFIG", filepath.Join(t.TempDir(), "contexts.json"))
	var all cli.Contexts
	all.Put(cli.SignedIn{Name: "test", Server: "https://test", User: "ann"})
	all.Put(cli.SignedIn{Name: "live", Server: "https://live", User: "ann"})
	if err := all.Save(); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"name": "live\ntest\n",
		"wide": "CONTEXT  CURRENT  SERVER        USER  UNTIL\nlive     yes      https://live  ann   -\ntest     -        https://test  ann   -\n",
	} {
		if code, out, errOut := clitest.Offline(t, "", "get", "contexts", "-o", format); code != 0 || out != want {
			t.Errorf("-o %s: exit code %d, %q, %s", format, code, out, errOut)
		}
	}
}

func TestExitCodesTellWhatKindOfErrorItWas(t *testing.T) {
	f := func(code int, want string, args ...string) {
		t.Helper()
		got, _, errOut := clitest.Offline(t, "", args...)
		if got != code || !strings.HasPrefix(errOut, want) {
			t.Errorf("%q: exit code %d, want %d: %s", args, got, code, errOut)
		}
	}
	f(cli.ExitUnavailable, "carillon: no answer from http://127.0.0.1:1: ", "get", "jobs", "--server", "127.0.0.1:1")
	f(cli.ExitUsage, `carillon: server "ftp://x" must be an address such as http://127.0.0.1:8822`, "get", "jobs", "--server", "ftp://x")
	f(cli.ExitUsage, `carillon: unknown command "gte"; did you mean get?`, "gte")
	f(cli.ExitUsage, `carillon: unknown command "nodez"; did you mean nodes?`, "get", "nodez")
	f(cli.ExitUsage, "carillon: unknown flag: --frobnicate", "get", "jobs", "--frobnicate")
	f(cli.ExitUsage, `carillon: invalid argument "xml" for "-o, --output" flag: must be one of table, wide, name, json, yaml`, "get", "jobs", "-o", "xml")
	f(cli.ExitUnavailable, "carillon: ", "top", "--once", "-o", "name", "--server", "127.0.0.1:1")
	f(cli.ExitUsage, `carillon: job "a.b/*" must be GROUP/NAME`, "get", "jobs", "a.b/*")
	f(cli.ExitUsage, `carillon: run_id "x" must be a UUIDv7`, "get", "runs", "x")
	f(cli.ExitUsage, "carillon: --group chooses from the list; leave it out, or a/b", "get", "jobs", "a/b", "--group", "a")
	f(cli.ExitUsage, `carillon: --by "colour" must be one of job, group, instance, version, minute`, "report", "runs", "--by", "colour")
	f(cli.ExitUsage, "carillon: --by minute is counted by group; choose with --group, not with --job", "report", "runs", "--by", "minute", "--job", "a/b")
	f(cli.ExitUsage, "carillon: name a file", "apply")
	f(cli.ExitUsage, `carillon: "jobs.yaml" is one argument too many: name files with -f`, "apply", "jobs.yaml")
	f(cli.ExitUsage, `carillon: "x" is one argument too many: carillon whoami takes none`, "whoami", "x")
	f(cli.ExitUsage, `carillon: invalid argument "" for "--key" flag: must not be empty`, "run", "a/b", "--key", "")
	f(cli.ExitUsage, `carillon: --since "soon" must be a duration such as 90m or 7d`, "get", "runs", "--since", "soon")
	f(cli.ExitError, "carillon: read documents: stat nowhere.yaml: no such file or directory", "apply", "-f", "nowhere.yaml")
	f(cli.ExitError, "carillon: no documents in -", "apply", "-f", "-")
	f(0, "", "get")
	f(0, "", "completion", "bash")
	f(0, "", "--help")
}
