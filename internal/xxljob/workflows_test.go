package xxljob

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/goldentest"
)

// outline tells of an entry what workflows change in it.
func outline(e *Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s\n", e.ID, e.Outcome, e.Job.Job)
	line := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		if s := string(text); s != "null" && s != "{}" && s != `""` && s != "false" {
			fmt.Fprintf(&b, "  %s %s\n", name, s)
		}
	}
	line("origin", e.Origin)
	line("note", e.Note)
	line("schedule", e.Job.Schedule)
	line("overlap", e.Job.Overlap)
	line("paused", e.Job.Paused)
	line("children", e.Job.Children)
	for i := range e.Job.Steps {
		line("step", e.Job.Steps[i])
	}
	return b.String()
}

func TestChainsOfChildrenBecomeWorkflows(t *testing.T) {
	dump, err := os.ReadFile("testdata/chains.sql")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entriesOf(t, string(dump), Options{Zone: "Asia/Shanghai", Workflows: true}) {
		b.WriteString(outline(&e))
		if err := e.Job.Validate(); e.Outcome == Imported && err != nil {
			t.Error(err)
		}
	}
	goldentest.Text(t, "testdata/chains.golden", b.String())
}

// chain is a dump of as many jobs, of which each follows the one before; the first has a schedule.
func chain(jobs int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO xxl_job_info (id, schedule_type, schedule_conf, executor_handler, glue_type, child_jobid, trigger_status) VALUES ")
	for i := range jobs {
		schedule := "'NONE', ''"
		if i == 0 {
			schedule = "'CRON', '0 0 1 * * ?'"
		}
		fmt.Fprintf(&b, "(%d, %s, 'step%d', 'BEAN', '%d', 1),", i+1, schedule, i+1, i+2)
	}
	return strings.TrimSuffix(b.String(), ",") + ";"
}

func TestAChainThatIsTooLongForAWorkflowStaysAsItIs(t *testing.T) {
	longer := entriesOf(t, chain(1001), Options{Group: "g", Workflows: true})
	first := longer[0]
	const why = "its children stay children: as a workflow, steps has 1001; at most 1000 are allowed: put some of them into a job of their own and call it"
	if len(longer) != 1001 || first.Note != why || first.Job.Schedule.Cron == "" || len(first.Job.Children) != 1 {
		t.Errorf("%d entries; %s: %+v", len(longer), first.Note, first.Job)
	}
}

func TestWorkflowsOfADumpHaveNamesOfTheirOwn(t *testing.T) {
	long := strings.Repeat("a", 80)
	entries := entriesOf(t, "INSERT INTO xxl_job_info (id, schedule_type, schedule_conf, executor_handler, glue_type, child_jobid) VALUES "+
		"(1,'CRON','0 0 1 * * ?','close','BEAN','2,3'),(2,'NONE','','2nd','BEAN',''),(3,'NONE','','"+long+"','BEAN',''),"+
		"(4,'NONE','','closeWorkflow','BEAN',''),(5,'CRON','0 0 1 * * ?','"+long+"','BEAN','1');", Options{Group: "g", Workflows: true})
	var names []string
	for _, e := range entries {
		if e.Outcome != Imported {
			t.Errorf("%d %s: %s", e.ID, e.Outcome, e.Note)
		}
		for _, s := range e.Job.Steps {
			names = append(names, string(e.Job.Job)+" "+s.Name)
		}
	}
	kept := long[:48]
	want := []string{
		"g/close-workflow-1 close", "g/close-workflow-1 job_2nd", "g/close-workflow-1 " + kept,
		"g/" + kept[:43] + "-workflow " + kept + "_5", "g/" + kept[:43] + "-workflow close", "g/" + kept[:43] + "-workflow job_2nd", "g/" + kept[:43] + "-workflow " + kept,
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}

func TestNotesOfWorkflowsAreThoseOfAnImport(t *testing.T) {
	for note, want := range map[string]bool{"XXL-JOB 7": true, "XXL-JOB 7 workflow": true, "XXL-JOB": false, "workflow": false, "": false, "XXL-JOB x workflow": false} {
		if MadeBy(note) != want {
			t.Errorf("%q: %v", note, !want)
		}
	}
	if IDOf("XXL-JOB 7 workflow") != 0 {
		t.Error("a workflow has the number of a job")
	}
}
