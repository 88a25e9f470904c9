package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

// chainOfScripts is a dump of a diamond of scripts and a job of a shared child, in the group of carillon dev's executor.
const chainOfScripts = `INSERT INTO xxl_job_group (id, app_name) VALUES (1, 'default');
INSERT INTO xxl_job_info (id, job_group, job_desc, schedule_type, schedule_conf, glue_type, glue_source, child_jobid, trigger_status) VALUES
(1,1,'first','CRON','0 0 3 * * ?','GLUE_SHELL','echo one','2,3',1),
(2,1,'left','NONE','','GLUE_SHELL','echo two','4',0),
(3,1,'right','NONE','','GLUE_SHELL','echo three','4',0),
(4,1,'last','CRON','0 0 0 * * ? *','GLUE_SHELL','echo four','',0),
(5,1,'by hand','NONE','','GLUE_SHELL','echo five','4',0);
`

func TestImportedChildJobsRunAsAWorkflow(t *testing.T) {
	s := clitest.New(t)
	args := []string{"import", "xxl-job", "-", "--zone", "Asia/Shanghai"}
	f := func(sum string, more ...string) string {
		t.Helper()
		code, out, errOut := s.Run(chainOfScripts, append(args, more...)...)
		if code != 0 || !strings.HasSuffix(out, "\n"+sum+"; zone Asia/Shanghai\n") {
			t.Errorf("%q: exit code %d: %s%s", more, code, errOut, out)
		}
		return plain(out)
	}
	if out := f("6 created, 0 changed, 0 unchanged, 0 conflicts, 0 skipped, 0 broken", "--workflows"); !strings.Contains(out, "\n1 created default/first-workflow step last runs once, after all steps before it") ||
		!strings.Contains(out, "\n5 created default/by-hand its children stay children: it has no schedule, so no workflow begins with it\n") {
		t.Error(out)
	}
	f("0 created, 0 changed, 6 unchanged, 0 conflicts, 0 skipped, 0 broken", "--workflows")
	// Without workflows, the one that an earlier import made is left over, and told.
	if out := f("0 created, 4 changed, 1 unchanged, 0 conflicts, 0 skipped, 0 broken"); !strings.Contains(out, "\n- left over default/first-workflow ") {
		t.Error(out)
	}
	f("0 created, 4 changed, 2 unchanged, 0 conflicts, 0 skipped, 0 broken", "--workflows")
	code, out, errOut := s.Run("", "run", "default/first-workflow", "--early", "next", "--wait")
	if code != 0 || !strings.HasSuffix(plain(out), "\nstep last succeeded in SPAN\nrun RUN succeeded in SPAN\n") {
		t.Errorf("exit code %d: %s%s", code, errOut, plain(out))
	}
	_, out, _ = s.Run("", "get", "runs", "--job", "default/last", "-o", "json")
	if runs := strings.Count(out, `"run_id"`); runs != 1 {
		t.Errorf("the last job has %d runs: %s", runs, out)
	}
}

func TestAPausedImportOfWorkflowsCanBeTried(t *testing.T) {
	s := clitest.New(t)
	if code, out, errOut := s.Run(chainOfScripts, "import", "xxl-job", "-", "--zone", "UTC", "--workflows", "--paused"); code != 0 {
		t.Fatalf("%s%s", errOut, out)
	}
	s.Want("default/first-workflow\n", "", "get", "jobs", "--paused", "-o", "name")
	if code, out, errOut := s.Run("", "run", "default/first-workflow", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, errOut, plain(out))
	}
}

// flowOfPowerJob is a workflow with a decision and a disabled node, as the server answers, and its jobs.
const flowOfPowerJob = `{"success": true, "data": {"id": 3, "wfName": "Nightly load", "appId": 1, "timeExpressionType": "CRON", "timeExpression": "0 0 3 * * ?", "enable": true,
 "peworkflowDAG": {"nodes": [
  {"nodeId": 1, "nodeType": 1, "jobId": 11, "nodeName": "count"}, {"nodeId": 2, "nodeType": 2, "nodeName": "any?", "nodeParams": "Integer.parseInt(context.get('rows')) > 0"},
  {"nodeId": 3, "nodeType": 1, "jobId": 12, "nodeName": "load"}, {"nodeId": 4, "nodeType": 1, "jobId": 12, "nodeName": "empty"},
  {"nodeId": 5, "nodeType": 1, "jobId": 12, "nodeName": "off", "enable": false}, {"nodeId": 6, "nodeType": 1, "jobId": 12, "nodeName": "last", "nodeParams": "[1]"}],
  "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3, "property": "true"}, {"from": 2, "to": 4, "property": "false"}, {"from": 3, "to": 5}, {"from": 4, "to": 5}, {"from": 5, "to": 6}]}}}
{"data": [
 {"id": 11, "jobName": "count", "appId": 1, "timeExpressionType": "WORKFLOW", "processorType": "SHELL", "processorInfo": "echo '{\"rows\": 7}' > $CARILLON_RESULT_FILE"},
 {"id": 12, "jobName": "load", "appId": 1, "timeExpressionType": "CRON", "timeExpression": "0 0 1 * * ?", "enable": false, "processorType": "SHELL", "processorInfo": "true"}]}
`

func TestAnImportedWorkflowOfPowerJobRuns(t *testing.T) {
	s := clitest.New(t)
	args := []string{"import", "powerjob", "-", "--group", "default", "--zone", "Asia/Shanghai"}
	f := func(sum string, more ...string) string {
		t.Helper()
		code, out, errOut := s.Run(flowOfPowerJob, append(args, more...)...)
		if code != 0 || !strings.HasSuffix(out, "\n"+sum+"\n") {
			t.Errorf("%q: exit code %d: %s%s", more, code, errOut, out)
		}
		return plain(out)
	}
	f("3 created, 0 changed, 0 unchanged, 0 conflicts, 0 skipped, 0 broken; zone Asia/Shanghai; saved paused (dry run: nothing was saved)", "--paused", "--dry-run")
	if out := f("3 created, 0 changed, 0 unchanged, 0 conflicts, 0 skipped, 0 broken; zone Asia/Shanghai"); !strings.Contains(out, `3 created default/nightly-load node "off" is disabled and was left out`) {
		t.Error(out)
	}
	f("0 created, 0 changed, 3 unchanged, 0 conflicts, 0 skipped, 0 broken; zone Asia/Shanghai")
	code, out, errOut := s.Run("", "run", "default/nightly-load", "--early", "next", "--wait")
	if code != 0 || !strings.Contains(plain(out), "step empty skipped: its condition is false: !(int(results.count.rows) > 0)\n") || !strings.Contains(out, "step last succeeded") {
		t.Errorf("exit code %d: %s%s", code, errOut, plain(out))
	}
	if code, out, errOut := s.Run(`{"jobName": "x", "processorInfo": "x"} {"jobName": "y"}`, args...); code != cli.ExitError || !strings.Contains(plain(out), "\n- broken - processorInfo is missing: it names no processor\n") || !strings.Contains(plain(out), "\n- left over default/count ") {
		t.Errorf("exit code %d: %s%s", code, errOut, out)
	}
	s.WantError(cli.ExitUsage, "carillon: file value 1 is neither a workflow (with wfName) nor a job (with jobName); it has \nnothing was changed", "{}", args...)
}
