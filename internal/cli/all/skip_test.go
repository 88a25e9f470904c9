package all_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
)

const yearlyJob = `job: default/yearly
schedule: {cron: "0 3 1 7 *"}
task: {shell: "echo happy new half year"}
`

// july returns the fire of yearlyJob so many years after the next one.
func july(years int) time.Time {
	now := time.Now().UTC()
	at := time.Date(now.Year(), time.July, 1, 3, 0, 0, 0, time.UTC)
	if at.Before(now.Add(time.Hour)) {
		years++
	}
	return at.AddDate(years, 0, 0)
}

func TestAFireIsSkippedFromTheCommandLine(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/yearly\n1 created\n", yearlyJob, "apply", "-f", "-")
	s.Want("default/yearly: the fire at "+draw.Clock{}.Instant(july(0))+" is skipped\n", "", "skip", "default/yearly", "--fire", "next", "--note", "not this year")
	s.Want("default/yearly: the fire at "+draw.Clock{}.Instant(july(1))+" is skipped\n", "", "skip", "default/yearly", "--fire", "next")
	s.Want("default/yearly: the fire at "+draw.Clock{}.Instant(july(1))+" runs\n", "", "skip", "default/yearly", "--fire", july(1).Format(time.RFC3339), "--undo")
	if code, out, _ := s.Run("", "get", "jobs", "default/yearly"); code != 0 || strings.Count(out, ": not this year") != 1 || !strings.Contains(out, "skipped by ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.WantError(cli.ExitUsage, `carillon: "tomorrow" must be a time in RFC 3339`, "", "skip", "default/yearly", "--fire", "tomorrow")
	s.WantError(cli.ExitError, "carillon: fire_time the schedule of default/yearly has no fire at", "", "skip", "default/yearly", "--fire", july(1).Add(time.Hour).Format(time.RFC3339))
}

func TestAFireRunsEarlyFromTheCommandLine(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/yearly\n1 created\n", yearlyJob, "apply", "-f", "-")
	if code, out, errOut := s.Run("", "run", "default/yearly", "--early", "next", "--follow"); code != 0 || !strings.HasPrefix(out, "happy new half year\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if code, out, _ := s.Run("", "get", "jobs", "default/yearly"); code != 0 || !strings.Contains(out, " asked for it early, as run ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.WantError(cli.ExitConflict, "carillon: the fire at ", "", "skip", "default/yearly", "--fire", july(0).Format(time.RFC3339), "--undo")
}

func TestAPauseHasAnEnd(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/yearly\n1 created\n", yearlyJob, "apply", "-f", "-")
	s.Want("default/yearly paused\n", "", "pause", "default/yearly", "--until", july(0).Add(-time.Minute).Format(time.RFC3339))
	if code, out, _ := s.Run("", "get", "jobs"); code != 0 || !strings.Contains(out, "paused until "+draw.Clock{}.Instant(july(0).Add(-time.Minute))) {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.Want("default/yearly resumed\n", "", "resume", "default/yearly")
	if code, out, _ := s.Run("", "pause", "--all", "--for", "2h"); code != 0 || !strings.Contains(out, " until ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.Want("all jobs resumed\n", "", "resume", "--all")
	s.WantError(cli.ExitUsage, `carillon: --until "soon" must be a time in RFC 3339`, "", "pause", "default/yearly", "--until", "soon")
	s.WantError(cli.ExitUsage, "carillon: if any flags in the group [until for] are set none of the others can be", "", "pause", "--all", "--until", "2026-01-01T00:00:00Z", "--for", "1h")
}
