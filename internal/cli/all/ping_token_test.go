package all_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const watchedJob = `job: default/backup
task: {watch: 30m}
---
job: default/local
task: {shell: "true"}
`

func TestAPingTokenIsCreatedRotatedListedAndRevoked(t *testing.T) {
	s := clitest.New(t)
	run := func(args ...string) (out, errOut string) {
		t.Helper()
		code, out, errOut := s.Run(watchedJob, args...)
		if code != 0 {
			t.Errorf("carillon %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
		}
		return out, errOut
	}
	token := func(args ...string) (id, url string) {
		t.Helper()
		out, errOut := run(append([]string{"watch", "token", "default/backup"}, args...)...)
		found := regexp.MustCompile(`(?s)id +(\S+)\n.*url +(http://127\.0\.0\.1:\d+/ping/carillon_ping_\S+)\n.*curl -fsS .* http`).FindStringSubmatch(out)
		if found == nil || !strings.Contains(errOut, "--public-url") {
			t.Fatalf("%s%s", out, errOut)
		}
		return found[1], found[2]
	}
	status := func(url string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"?host=web1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.Body)
		_ = a.Body.Close()
		return a.StatusCode
	}
	run("apply", "-f", "-")
	if out, _ := run("watch", "token", "default/backup", "--list"); !strings.Contains(out, "no ping tokens") {
		t.Error(out)
	}
	first, firstURL := token()
	if got := status(firstURL); got != http.StatusOK {
		t.Errorf("a ping: %d", got)
	}
	second, secondURL := token("--rotate", "--overlap", "1d")
	out, _ := run("watch", "token", "default/backup", "--list")
	if lines := strings.Split(out, "\n"); len(lines) < 3 || !strings.Contains(lines[1], second) || !strings.Contains(lines[1], "never") || !strings.Contains(lines[2], first) || !strings.Contains(lines[2], "web1") {
		t.Error(out)
	}
	run("watch", "token", "default/backup", "--revoke", second)
	if got := status(secondURL); got != http.StatusNotFound {
		t.Errorf("a ping with a token that was revoked: %d", got)
	}
	token("--rotate", "--overlap", "0s")
	if got := status(firstURL); got != http.StatusNotFound {
		t.Errorf("a ping with a token that has ended: %d", got)
	}
	s.WantError(cli.ExitUsage, "carillon: overlap", "", "watch", "token", "default/backup", "--overlap", "1d")
	s.WantError(cli.ExitUsage, "carillon: ", "", "watch", "token", "backup")
	s.WantError(cli.ExitConflict, "carillon: executors run job default/local", "", "watch", "token", "default/local")
}
