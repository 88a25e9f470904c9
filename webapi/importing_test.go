package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACrontabIsReadAsJobsAndSavesNothing(t *testing.T) {
	w := newWorld(t)
	read := func(body string, lines ...string) {
		t.Helper()
		got, _ := want[CrontabLines](w, http.StatusOK, "POST", "/api/v1/import/crontab", body)
		var told []string
		for _, l := range got.Items {
			line := fmt.Sprintf("%d %s", l.Line, l.Outcome)
			if l.Job != nil {
				line += fmt.Sprintf(" %s %s %s %s", l.Job.Job, l.Job.Schedule.Cron, l.Job.Schedule.Zone, l.Job.Task.Shell)
			}
			told = append(told, line)
		}
		if d := cmp.Diff(lines, told); d != "" {
			t.Errorf("%s: %s", body, d)
		}
	}
	read(`{"text":"# name: nightly\n0 3 * * * /srv/report\n@reboot /srv/warm-up\n75 * * * * x\n","group":"ops","zone":"Europe/Berlin"}`,
		"2 imported ops/nightly 0 3 * * * Europe/Berlin /srv/report", "3 skipped", "4 broken")
	read(`{"text":"MAILTO=ops\n0 3 * * * root /srv/report\n","system":true}`,
		"1 skipped", "2 imported default/report-960173 0 3 * * * UTC /srv/report")
	want[Problem](w, http.StatusBadRequest, "POST", "/api/v1/import/crontab", `{"text":"","zone":"Mars/Olympus"}`)
	jobs, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", "")
	if jobs.Total != 0 {
		t.Errorf("%d jobs were saved", jobs.Total)
	}
}

func TestADumpOfXXLJobIsReadAsJobsAndSavesNothing(t *testing.T) {
	w := newWorld(t)
	dump := `INSERT INTO xxl_job_group (id, app_name) VALUES (1, 'billing'); ` +
		`INSERT INTO xxl_job_info (id, job_group, job_desc, schedule_type, schedule_conf, executor_handler, glue_type, trigger_status) VALUES ` +
		`(4, 1, 'Close the day', 'CRON', '0 0 2 * * ?', 'invoiceClose', 'BEAN', 1), (5, 1, 'In Ruby', 'NONE', '', '', 'GLUE_RUBY', 0), (6, 2, 'lost', 'NONE', '', 'x', 'BEAN', 0);`
	got, _ := want[XXLJobEntries](w, http.StatusOK, "POST", "/api/v1/import/xxl-job", fmt.Sprintf(`{"text":%q,"zone":"Asia/Shanghai"}`, dump))
	var told []string
	for _, e := range got.Items {
		entry := fmt.Sprintf("%d %s", e.ID, e.Outcome)
		if e.Job != nil {
			entry += fmt.Sprintf(" %s %s %s %s", e.Job.Job, e.Job.Schedule.Cron, e.Job.Schedule.Zone, e.Origin)
		}
		told = append(told, entry)
	}
	if d := cmp.Diff([]string{"4 imported billing/invoice-close 0 0 2 * * ? Asia/Shanghai XXL-JOB 4", "5 skipped", "6 broken"}, told); d != "" {
		t.Error(d)
	}
	chain := strings.NewReplacer("glue_type, trigger_status)", "glue_type, trigger_status, child_jobid)", "'BEAN', 1)", "'BEAN', 1, '5')", "'NONE', '', '', 'GLUE_RUBY', 0)", "'NONE', '', 'mail', 'BEAN', 0, '')", ", (6, 2, 'lost', 'NONE', '', 'x', 'BEAN', 0)", "").Replace(dump)
	got, _ = want[XXLJobEntries](w, http.StatusOK, "POST", "/api/v1/import/xxl-job", fmt.Sprintf(`{"text":%q,"workflows":true}`, chain))
	if flow := got.Items[1]; len(got.Items) != 3 || flow.Origin != "XXL-JOB 4 workflow" || len(flow.Job.Steps) != 2 || !strings.HasPrefix(string(got.Items[0].Note), "is called by billing/invoice-close-workflow") {
		t.Errorf("%+v", got.Items)
	}
	want[Problem](w, http.StatusBadRequest, "POST", "/api/v1/import/xxl-job", `{"text":"no dump"}`)
	jobs, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs", "")
	if jobs.Total != 0 {
		t.Errorf("%d jobs were saved", jobs.Total)
	}
}
