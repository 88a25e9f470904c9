package main

import (
	"strings"
	"testing"

	"carillon/internal/cli"
)

func TestInstancesAreChosenAndToldWhatToDo(t *testing.T) {
	s := newTerminal(t)
	job := "job: default/x\nroute: consistent_hash\nlabels: {zone: eu}\ntask: {command: [\"true\"]}\n"
	if code, _, e := s.run(job, "apply", "-f", "-"); code != 0 {
		t.Fatal(e)
	}
	s.want("instance dev is online, with 0 of 3 slots in use\n", "", "set", "dev", "--slots", "3", "--label", "zone=eu")
	if code, out, e := s.run("", "run", "default/x", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	// Nobody has this label yet: the run waits until the instance does.
	go s.run("", "set", "dev", "--label", "zone=us")
	if code, out, e := s.run("", "run", "default/x", "--label", "zone=us", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, e)
	}
	s.want("instance dev is cordoned, with 0 of 3 slots in use\n", "", "cordon", "default/dev")
	if _, out, _ := s.run("", "get", "groups"); !strings.Contains(out, "cordoned") || !strings.Contains(out, "zone=us") {
		t.Error(out)
	}
	s.want("instance dev is online, with 0 of 3 slots in use\n", "", "uncordon", "dev")
	s.want("instance dev is online, with 0 of 3 slots in use\n", "", "set", "dev", "--no-labels")
	if _, out, _ := s.run("", "get", "groups"); strings.Contains(out, "zone=us") {
		t.Errorf("labels that were taken away are there yet: %s", out)
	}

	s.wantError(cli.ExitNotFound, "carillon: not found: no group has a live instance x", "", "drain", "x")
	s.wantError(cli.ExitUsage, "carillon: labels \"zone\" must be KEY=VALUE", "", "set", "dev", "--label", "zone")
	s.wantError(cli.ExitUsage, "carillon: set --slots, --label or --no-labels", "", "set", "dev")
	s.wantError(cli.ExitUsage, "carillon: --slots 0 must be at least 1; ", "", "set", "dev", "--slots", "0")
	s.wantError(cli.ExitUsage, "carillon: labels \"zone\" must be KEY=VALUE", "", "run", "default/x", "--label", "zone")
}
