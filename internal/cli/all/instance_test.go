package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestInstancesAreChosenAndToldWhatToDo(t *testing.T) {
	s := clitest.New(t)
	job := "job: default/x\nroute: consistent_hash\nlabels: {zone: eu}\ntask: {command: [\"true\"]}\n"
	if code, _, e := s.Run(job, "apply", "-f", "-"); code != 0 {
		t.Fatal(e)
	}
	s.Want("instance dev is online, with 0 of 3 slots in use\n", "", "set", "dev", "--slots", "3", "--label", "zone=eu")
	if code, out, e := s.Run("", "run", "default/x", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	// Nobody has this label yet: the run waits until the instance does.
	go s.Run("", "set", "dev", "--label", "zone=us")
	if code, out, e := s.Run("", "run", "default/x", "--label", "zone=us", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	s.Want("instance dev is cordoned, with 0 of 3 slots in use\n", "", "cordon", "default/dev")
	if _, out, _ := s.Run("", "get", "groups"); !strings.Contains(out, "cordoned") || !strings.Contains(out, "zone=us") {
		t.Error(out)
	}
	s.Want("instance dev is online, with 0 of 3 slots in use\n", "", "uncordon", "dev")
	s.Want("instance dev is online, with 0 of 3 slots in use\n", "", "set", "dev", "--no-labels")
	if _, out, _ := s.Run("", "get", "groups"); strings.Contains(out, "zone=us") {
		t.Errorf("labels that were taken away are there yet: %s", out)
	}

	s.WantError(cli.ExitNotFound, "carillon: not found: no group has a live instance x", "", "drain", "x")
	s.WantError(cli.ExitUsage, "carillon: labels \"zone\" must be KEY=VALUE", "", "set", "dev", "--label", "zone")
	s.WantError(cli.ExitUsage, "carillon: set --slots, --label or --no-labels", "", "set", "dev")
	s.WantError(cli.ExitUsage, "carillon: --slots 0 must be at least 1; ", "", "set", "dev", "--slots", "0")
	s.WantError(cli.ExitUsage, "carillon: labels \"zone\" must be KEY=VALUE", "", "run", "default/x", "--label", "zone")
}
