package all_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestATrendByDayHasTheDaysOfTheUsersZoneOrAnother(t *testing.T) {
	kathmandu, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	s := clitest.New(t)
	s.Zone = kathmandu
	s.Run(chatty, "apply", "-f", "-")
	if code, out, errOut := s.Run("", "run", "default/chatty", "--wait"); code != 0 {
		t.Fatalf("%s%s", out, errOut)
	}
	found(t, s, "outofmemory") // what comes after it on the stream may come later
	day := func(want string, args ...string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			code, out, errOut := s.Run("", append([]string{"report", "trend", "--since", "1h", "--step", "day"}, args...)...)
			if code != 0 || time.Now().After(deadline) {
				t.Fatalf("exit code %d: %s%s", code, out, errOut)
			}
			if rows := strings.Split(strings.TrimSpace(out), "\n"); len(rows) > 1 {
				if !strings.Contains(rows[len(rows)-1], want) {
					t.Errorf("with %v the last day is %q; want one that begins at %s", args, rows[len(rows)-1], want)
				}
				return
			}
		}
	}
	day(" 00:00:00+05:45")
	day(" 00:00:00Z", "--utc")
	day(" 00:00:00+05:30", "--zone", "Asia/Kolkata")
	for by, row := range map[string]string{"job": "default/chatty", "group": "default", "instance": "default/dev", "version": "default/chatty v1", "minute": "2"} {
		code, out, errOut := s.Run("", "report", "runs", "--since", "1h", "--by", by)
		if code != 0 || !strings.HasPrefix(out, strings.ToUpper(by)+" ") || !strings.Contains(out, "\n"+row) {
			t.Errorf("by %s: exit code %d: %s%s", by, code, errOut, out)
		}
	}
	if code, out, errOut := s.Run("", "report", "runs", "--order", "lateness"); code != 0 || !strings.Contains(out, "COMMITTED P50") {
		t.Errorf("by lateness: exit code %d: %s%s", code, errOut, out)
	}
	s.WantError(cli.ExitUsage, `carillon: invalid argument "Mars" for "--zone" flag: zone "Mars" is not known`, "", "report", "trend", "--zone", "Mars")
	s.WantError(cli.ExitUsage, "carillon: if any flags in the group [utc zone] are set", "", "report", "trend", "--zone", "Asia/Kolkata", "--utc")
}
