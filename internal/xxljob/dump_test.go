package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

// read imports the dump of the tests.
func read(t *testing.T, o Options) []Entry {
	t.Helper()
	data, err := os.ReadFile("testdata/xxl-job.sql")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := Import(t.Context(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestEachRowOfADumpSaysWhatBecameOfIt(t *testing.T) {
	var got []string
	for _, e := range read(t, Options{Zone: "Asia/Shanghai"}) {
		got = append(got, fmt.Sprintf("%d %d %s %s|%s", e.ID, e.Line, e.Outcome, e.Job.Job, e.Note))
	}
	want := []string{
		"1 52 imported xxl-job-executor-sample/demo-job-handler|",
		"2 53 imported billing/invoice-close|its failures were mailed to billing@example.com,ops@example.com: create an alert rule for that; its child 7 is not among the jobs and was left out; its child 99 is not among the jobs and was left out",
		"3 54 imported billing/invoice-close-3|its child 2 leads back to it and was left out",
		"4 55 imported xxl-job-executor-sample/rotate-logs|",
		"5 56 imported xxl-job-executor-sample/job-5|was written for Python 2",
		"6 57 imported xxl-job-executor-sample/in-java|is Java code from XXL-JOB (GLUE): only XXL-JOB executors behind the bridge run it; for other executors, turn it into a handler",
		`7 58 broken |schedule.cron "0 75 1 * * ?": minute "75" must be a number from 0 to 59`,
		"8 59 broken |belongs to executor 9, which has no row in the dump; dump xxl_job_group too, or choose a group",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAJobOfXXLJobKeepsItsPolicies(t *testing.T) {
	entries := read(t, Options{Zone: "Asia/Shanghai"})
	want := job.Job{
		Job:         "billing/invoice-close",
		Title:       "Close the day's invoices",
		Owner:       "Chen Yu",
		Tags:        []string{"xxl-job"},
		Schedule:    job.Schedule{Cron: "0 30 2 ? * MON-SAT", Zone: "Asia/Shanghai"},
		Misfire:     job.Misfire{Policy: job.FireOnce, Grace: job.Duration(5 * time.Second)},
		Route:       job.RouteFailover,
		Overlap:     job.Overlap{Policy: job.OverlapSkip},
		Retry:       job.Retry{Limit: 2, Backoff: job.BackoffConstant, Delay: job.Duration(10 * time.Second)},
		Children:    []job.Child{{Job: "billing/invoice-close-3"}},
		Timeout:     job.Duration(10 * time.Minute),
		StartWithin: job.Duration(10 * time.Minute),
		Task:        job.Task{Handler: "invoiceClose"},
		Params:      json.RawMessage(`{"audience": "high"}`),
	}
	if d := cmp.Diff(want, entries[1].Job); d != "" {
		t.Error(d)
	}
	want = job.Job{
		Job:         "xxl-job-executor-sample/rotate-logs",
		Title:       "rotate logs",
		Owner:       "ops",
		Tags:        []string{"xxl-job"},
		Schedule:    job.Schedule{FixedRate: job.Duration(90 * time.Second)},
		Misfire:     job.Misfire{Policy: job.MisfireSkip, Grace: job.Duration(5 * time.Second)},
		Route:       job.RouteBroadcast,
		Overlap:     job.Overlap{Policy: job.OverlapQueue},
		Timeout:     job.Duration(30 * time.Second),
		StartWithin: job.Duration(90 * time.Second),
		Task: job.Task{Script: &job.Script{
			Language: "shell",
			Source:   "#!/bin/bash\necho \"index $2 of $3\"; # it's fine\nexit 0\n",
		}},
		Params: json.RawMessage(`"a b"`),
	}
	if d := cmp.Diff(want, entries[3].Job); d != "" {
		t.Error(d)
	}
	if j := entries[0].Job; !j.Paused || j.Schedule.Cron != "0 0 0 * * ? *" {
		t.Errorf("a job that was stopped is paused: %+v", j)
	}
	if j := entries[2].Job; j.Paused || j.Schedule.Kind() != job.KindManual || j.Overlap.Policy != job.OverlapReplace {
		t.Errorf("a job without a schedule is run by hand: %+v", j)
	}
	if j := entries[4].Job; j.Schedule.FixedDelay != job.Duration(5*time.Minute) || j.Task.Script.Language != "python" {
		t.Errorf("got %+v", j)
	}
}

func TestAGroupIsGivenToJobsThatHaveNone(t *testing.T) {
	e := read(t, Options{Group: "lost"})[7]
	if e.Outcome != Broken || !strings.HasPrefix(e.Note, "schedule.fixed_rate") {
		t.Errorf("%s: %s", e.Outcome, e.Note)
	}
	e = entriesOf(t, "INSERT INTO xxl_job_info (id, job_group, job_desc, schedule_type, schedule_conf, executor_handler, glue_type, trigger_status) "+
		"VALUES (1, 7, 'x', 'FIX_RATE', '60', 'demo', 'BEAN', 1);", Options{Group: "lost"})[0]
	if e.Job.Job != "lost/demo" || e.Job.Paused {
		t.Errorf("got %+v", e)
	}
}

// entriesOf imports a dump that is good as a whole.
func entriesOf(t *testing.T, text string, o Options) []Entry {
	t.Helper()
	entries, err := Import(t.Context(), []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestALongTitleIsTheDescriptionToo(t *testing.T) {
	long := strings.Repeat("对账", 100)
	e := entriesOf(t, "INSERT INTO xxl_job_info (id, job_desc, executor_handler, glue_type) VALUES (1, '"+long+"', 'demo', 'BEAN');", Options{Group: "g"})[0]
	if e.Outcome != Imported || e.Job.Description != long || len(e.Job.Title) > job.MaxTitle || !strings.HasSuffix(e.Job.Title, "账…") && !strings.HasSuffix(e.Job.Title, "对…") {
		t.Errorf("got %+v", e)
	}
}

func TestDumpsAreReadHoweverTheyAreWritten(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		e := entriesOf(t, text, Options{Group: "g"})[0]
		if got := fmt.Sprint(e.Job.Job, " ", e.Job.Schedule.Cron, " ", e.Title); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	const head = "INSERT INTO xxl_job_info (id, job_cron, job_desc, executor_handler, glue_type) VALUES "
	f(head+"(4,'0 0 1 * * ?','a','b','BEAN')", "g/b 0 0 1 * * ? a")
	f("\ufeff"+strings.ToLower(head)+"(4,'0 0 1 * * ?',NULL,'b','BEAN') on duplicate key update id=id;", "g/b 0 0 1 * * ? ")
	f("# a\n-- b\n/* c; 'd' */ REPLACE INTO `db`.`XXL_JOB_INFO` (`id`,`job_cron`,`job_desc`,`executor_handler`,`glue_type`) VALUE (4,\"0 0 1 * * ?\",_utf8mb4 'x;)\\'','b','BEAN');",
		"g/b 0 0 1 * * ? x;)'")
	f("INSERT IGNORE INTO xxl_job_info (id, job_cron, add_time, executor_handler, glue_type) VALUES (4,'0 0 1 * * ?',FROM_UNIXTIME(1,2),'b','BEAN');", "g/b 0 0 1 * * ? ")
}

func TestADumpThatCannotBeReadSaysWhere(t *testing.T) {
	f := func(text, want string, o Options) {
		t.Helper()
		entries, err := Import(t.Context(), []byte(text), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want %s", text, entries, err, want)
		}
	}
	f("", "has no row of xxl_job_info; make it with mysqldump", Options{})
	f("\nINSERT INTO xxl_job_info VALUES (1,'x);", "line 2: the text that begins with ' here does not end", Options{})
	f("INSERT INTO xxl_job_info VALUES (1);", "line 1: rows of xxl_job_info do not say which columns they have", Options{})
	f("INSERT INTO xxl_job_info (id, job_desc) VALUES (1);", "line 1: a row of xxl_job_info has 1 values for 2 columns", Options{})
	f("INSERT INTO xxl_job_info (id) VALUES ('x');", `has the id "x"; it must be a number`, Options{})
	f("", `"Mars" is not a time zone`, Options{Zone: "Mars"})
	f("", `group "A b"`, Options{Group: "A b"})
}

func TestNamesOfXXLJobsAreTheSameAtTheNextImport(t *testing.T) {
	const head = "INSERT INTO xxl_job_info (id, job_cron, job_desc, executor_handler, glue_type) VALUES "
	names := func(rows ...string) string {
		var all []string
		for _, e := range entriesOf(t, head+strings.Join(rows, ","), Options{Group: "g"}) {
			all = append(all, e.Job.Job.Short())
		}
		return strings.Join(all, " ")
	}
	row := func(id int, title, handler string) string {
		return fmt.Sprintf("(%d,'0 0 1 * * ?','%s','%s','BEAN')", id, title, handler)
	}
	three, seven := row(3, "", "syncOrders"), row(7, "", "syncOrders")
	if got := names(seven, three); got != "sync-orders sync-orders-7" {
		t.Error(got)
	}
	if got := names(three, seven, row(8, "", "syncOrders"), row(9, "", "com.example.HTTPPoll_v2")); got != "sync-orders sync-orders-7 sync-orders-8 com-example-httppoll_v2" {
		t.Error(got)
	}
	if got := names(row(1, "", "同步")); got != "job-1" {
		t.Error(got)
	}
}

func FuzzImport(f *testing.F) {
	data, err := os.ReadFile("testdata/xxl-job.sql")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("INSERT INTO xxl_job_info (id, job_cron, glue_type) VALUES (1,'0 0 1 * * ?','BEAN'),(2")
	f.Add("INSERT INTO xxl_job_info (id, job_cron, executor_handler, glue_type, child_jobid) VALUES (1,'0 0 1 * * ?','a','BEAN','2,3'),(2,'','b','BEAN','3'),(3,'','c','BEAN','')")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := Import(t.Context(), []byte(text), Options{Group: "g"})
		if err != nil {
			return
		}
		workflows, err := Import(t.Context(), []byte(text), Options{Group: "g", Workflows: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range slices.Concat(entries, workflows) {
			if (e.Outcome == Imported) != (e.Job.Job != "") {
				t.Errorf("%+v", e)
			}
			if err := e.Job.Validate(); e.Outcome == Imported && err != nil {
				t.Error(err)
			}
		}
	})
}

func TestADumpInAnotherEncodingIsRefused(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Import(t.Context(), []byte(text), Options{Group: "g"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v; want %s", text, err, want)
		}
	}
	const head = "-- a\nINSERT INTO xxl_job_info (id, job_desc, executor_param, executor_handler, glue_type) VALUES "
	f(head+"\n(1,'a','\xb1\xb1\xbe\xa9,\xc9\xcf\xba\xa3','h','BEAN');", "line 3: column executor_param is not UTF-8; dump with mysqldump --default-character-set=utf8mb4")
	f(head+"(1,'a','\uFFFD','h','BEAN');", "line 2: column executor_param is not UTF-8") // a browser has read it
	f(head+"(1,'\x95\\','b','h','BEAN');", "line 2: a text is not UTF-8")                // whose second byte hides the quote
	f("INSERT INTO xxl_job_group (id, title) VALUES (1,'\xb1\xb1');"+head+"(1,'a','b','h','BEAN');", "line 1: column title is not UTF-8")
	for _, bom := range []string{"\xff\xfe", ""} {
		f(bom+strings.Join(strings.Split(head, ""), "\x00"), "UTF-16, as PowerShell writes")
	}
	f("--\n-- PostgreSQL database dump\n--\n"+head+"(1,'a','C:\\data\\new','h','BEAN');", "is of PostgreSQL")
	// Other tables are not read.
	entriesOf(t, "INSERT INTO xxl_job_log (id, msg) VALUES (1,'\xb1\xb1');"+head+"(1,'北京','b','h','BEAN');", Options{Group: "g"})
}

func TestWhatADumpSaysOfExecutorsIsNoted(t *testing.T) {
	f := func(groups, want string) {
		t.Helper()
		e := entriesOf(t, "INSERT INTO xxl_job_group (id, app_name, address_type, address_list, access_token) VALUES "+groups+
			";INSERT INTO xxl_job_info (id, job_group, name, executor_param, executor_handler, glue_type) VALUES (1, 1, '对账', '  x y  ', 'h', 'BEAN');", Options{})[0]
		if e.Note != want || e.Title != "对账" || e.Outcome == Imported && string(e.Job.Params) != `"  x y  "` {
			t.Errorf("%s: %s, %s, title %q, parameter %s", groups, e.Outcome, e.Note, e.Title, e.Job.Params)
		}
	}
	f("(1,'billing',0,NULL,'')", "")
	f("(1,'Svc.Order',0,NULL,''),(2,'svcOrder',0,NULL,'')", "the AppNames Svc.Order, svcOrder all become group svc-order: rename all but one before their executors attach")
	f("(1,'订单服务',0,NULL,'')", `belongs to executor 1, whose AppName "订单服务" has no letter or digit for the name of a group; choose a group, and rename the AppName before its executors attach`)
	f("(1,'billing',1,'http://10.0.0.1:9999,http://10.0.0.2:9999',NULL)", "the addresses of its executors were entered by hand (http://10.0.0.1:9999,http://10.0.0.2:9999): check that they register addresses that the bridge can reach, or use --rewrite")
	f("(1,'billing',0,NULL,'secret')", "its executors have an access token of their own: add a line with it for billing to --access-token-file of the bridge")
}

// XXL-JOB fails a run at once that no executor can take, and does not run it later.
func TestRunsOfImportedJobsWaitForAnExecutorUntilTheNextFire(t *testing.T) {
	f := func(kind, conf string, want time.Duration) {
		t.Helper()
		e := entriesOf(t, "INSERT INTO xxl_job_info (id, schedule_type, schedule_conf, executor_handler, glue_type) VALUES (1,'"+kind+"','"+conf+"','h','BEAN');", Options{Group: "g"})[0]
		if got := e.Job.StartWithin.Std(); got != want {
			t.Errorf("%s %s: %s, want %s", kind, conf, got, want)
		}
	}
	f("CRON", "0/5 * * * * ?", 10*time.Second)
	f("CRON", "0 * * * * ?", time.Minute)
	f("CRON", "0 0,3 1 * * ?", 3*time.Minute)
	f("CRON", "0 0 3 * * ?", 10*time.Minute)
	f("CRON", "0 0 3 1 1 ? 2099", 10*time.Minute)
	f("FIX_RATE", "90", 90*time.Second)
	f("FIX_DELAY", "30", 30*time.Second)
	f("NONE", "", 10*time.Minute)
}

func TestAnImportEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := Import(ctx, []byte("INSERT INTO xxl_job_info (id) VALUES (1);\n"), Options{Group: "ops"}); !errors.Is(err, over) {
		t.Errorf("%v", err)
	}
}
