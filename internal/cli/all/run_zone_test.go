package all_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestTimesAreInTheZoneOfWhoAsks(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	s := clitest.New(t)
	s.Zone = shanghai
	s.Run(clitest.TwoJobs, "apply", "-f", "-")
	code, out, errOut := s.Run("", "run", "default/hello", "--wait")
	if code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	id := strings.Fields(out)[1] // run ID succeeded in ...
	local, utc := regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?\+08:00`), regexp.MustCompile(`\d\d:\d\d:\d\d(\.\d+)?Z`)
	for _, line := range []string{
		"get jobs", "get job default/hello", "get runs", "get run " + id, "logs default/hello --timestamps", "search hello",
		"get versions default/hello", "audit-log", "report overview", "ledger verify", "ledger show default/hello", "top --once", "get bus",
	} {
		args := strings.Fields(line)
		code, out, errOut := s.Run("", args...)
		if code != 0 || !local.MatchString(out) || utc.MatchString(out) {
			t.Errorf("carillon %s: %d\n%s%s", line, code, out, errOut)
		}
		code, out, errOut = s.Run("", append(args, "--utc")...)
		if code != 0 || local.MatchString(out) || !utc.MatchString(out) {
			t.Errorf("carillon %s --utc: %d\n%s%s", line, code, out, errOut)
		}
		code, out, errOut = s.Run("", append(args, "-o", "json")...)
		if code != 0 || local.MatchString(out) || !utc.MatchString(out) {
			t.Errorf("carillon %s -o json: %d\n%s%s", line, code, out, errOut)
		}
	}
}
