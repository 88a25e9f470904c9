package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const cronJob = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: backup}\nspec:\n  schedule: '0 3 * * *'\n  timeZone: Europe/Berlin\n" +
	"  jobTemplate: {spec: {backoffLimit: 0, template: {spec: {containers: [{name: c, command: [sh, -c, '1e3']}]}}}}\n"

func TestCronJobsOfKubernetesAreWatched(t *testing.T) {
	s := clitest.New(t)
	args := []string{"import", "kubernetes", "-", "--group", "k8s"}
	code, out, errOut := s.Run(cronJob, append(args, "--dry-run")...)
	if code != 0 || !strings.Contains(errOut, "default/backup  wrapped, created  k8s/default-backup") || !strings.Contains(errOut, "(dry run: nothing was saved)") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	s.Want("no jobs\n", "", "get", "jobs")
	code, again, errOut := s.Run(cronJob, args...)
	if code != 0 || again != out || !strings.Contains(out, `- "1e3"`) || !strings.Contains(out, s.Server) {
		t.Errorf("exit code %d: %s%s", code, errOut, again)
	}
	code, again, errOut = s.Run(out, args...)
	if code != 0 || again != out || !strings.Contains(errOut, "wrapped, unchanged") || !strings.Contains(errOut, "it is wrapped already") {
		t.Errorf("a second time: exit code %d: %s%s", code, errOut, again)
	}
	if _, doc, _ := s.Run("", "get", "job", "k8s/default-backup", "-o", "yaml"); !strings.Contains(doc, "zone: Europe/Berlin") {
		t.Errorf("the job is\n%s", doc)
	}
	s.WantError(cli.ExitUsage, "carillon: CronJobs default/backup and default/backup are both job k8s/default-backup\nnothing was changed\n", cronJob+"---\n"+cronJob, args...)
	s.WantError(cli.ExitUsage, "carillon: manifest line 1 of - is of a Helm template", "{{ x }}\n", args...)
	code, out, _ = clitest.Offline(t, cronJob, append(args, "-o", "yaml")...)
	if code != 0 || !strings.Contains(out, "job: k8s/default-backup") || strings.Contains(out, "kind:") {
		t.Errorf("documents: exit code %d: %s", code, out)
	}
}
