package kubernetes

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

var options = Options{Group: "k8s", Image: "carillon:1", Server: "https://c.example.com", Secret: "carillon-watch"}

const backup = `apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: shop}
spec:
  schedule: "0 3 * * *"
  timeZone: Europe/Berlin
  startingDeadlineSeconds: 1800
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      activeDeadlineSeconds: 7200
      template:
        spec:
          containers:
          - name: main
            image: busybox
            command: [sh, -c, "echo '1e3' $(DB) # all"]
            args: ["yes", '.inf']
            env:
            - {name: DB, value: "012"}
          - {name: sidecar, image: other}
          restartPolicy: Never
`

func one(t *testing.T, text string) (string, CronJob) {
	t.Helper()
	docs, jobs, err := Import("f.yaml", []byte(text), options)
	if err != nil || len(jobs) != 1 {
		t.Fatal(len(jobs), err)
	}
	return string(docs[0]), jobs[0]
}

func TestACronJobIsWrapped(t *testing.T) {
	doc, c := one(t, backup)
	want := job.Job{
		Job: "k8s/shop-backup", Description: "CronJob shop/backup of Kubernetes",
		Schedule: job.Schedule{Cron: "0 3 * * *", Zone: "Europe/Berlin"}, Timeout: job.Duration(2 * time.Hour),
		Task: job.Task{Watch: &job.Watch{Grace: job.Duration(30 * time.Minute)}},
	}
	if d := cmp.Diff(want, c.Job); d != "" || !c.Wrapped {
		t.Error(d)
	}
	if got := strings.Join(c.Notes, "; "); got != "concurrencyPolicy Forbid: a run that Kubernetes does not start is missed; "+
		"a retry of the pod (backoffLimit) reports to the same run; its first end counts; only the first container, main, reports" {
		t.Error(got)
	}
	pod := `{"containers":[{"name":"main","image":"busybox",` +
		`"command":["/carillon-watch/carillon","watch","k8s/shop-backup","--run","$(CARILLON_JOB_NAME)","--patience","30s","--","sh","-c","echo '1e3' $(DB) # all"],` +
		`"args":["yes",".inf"],"env":[{"name":"CARILLON_SERVER","value":"https://c.example.com"},` +
		`{"name":"CARILLON_WATCH_TOKEN","valueFrom":{"secretKeyRef":{"name":"carillon-watch","key":"token"}}},` +
		`{"name":"CARILLON_JOB_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['job-name']"}}},` +
		`{"name":"XDG_STATE_HOME","value":"/carillon-watch/state"},{"name":"DB","value":"012"}],` +
		`"volumeMounts":[{"name":"carillon-watch","mountPath":"/carillon-watch"}]},{"name":"sidecar","image":"other"}],"restartPolicy":"Never",` +
		`"volumes":[{"name":"carillon-watch","emptyDir":{}}],` +
		`"initContainers":[{"name":"carillon-watch","image":"carillon:1","command":["/usr/bin/carillon","watch","--install","/carillon-watch"],` +
		`"volumeMounts":[{"name":"carillon-watch","mountPath":"/carillon-watch"}]}]}`
	want2 := `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"backup","namespace":"shop"},"spec":{"schedule":"0 3 * * *","timeZone":"Europe/Berlin",` +
		`"startingDeadlineSeconds":1800,"concurrencyPolicy":"Forbid","jobTemplate":{"spec":{"activeDeadlineSeconds":7200,"template":{"spec":` + pod + `}}}}}`
	if d := cmp.Diff(want2, doc); d != "" {
		t.Error(d)
	}
	again, c2 := one(t, doc) // JSON is YAML
	if again != doc || !c2.Wrapped || !cmp.Equal(c.Job, c2.Job) {
		t.Errorf("a second time: %s", cmp.Diff(doc, again))
	}
}

func TestListsAndOtherDocumentsComeThrough(t *testing.T) {
	const tail = "  jobTemplate: {spec: {backoffLimit: 0, template: {spec: {containers: [{name: c, command: [x]}]}}}}\n"
	text := "# comment\n---\nkind: ConfigMap\napiVersion: v1\ndata: {a: \"yes\"}\n---\n" +
		"apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: CronJob\n  metadata: {name: a}\n  spec:\n    schedule: '@daily'\n    suspend: true\n  " + tail +
		"- {apiVersion: v1, kind: Service}\n---\n# nothing\n---\n" +
		"apiVersion: batch/v1\nkind: CronJobList\nitems:\n- metadata: {name: b}\n  spec:\n    schedule: CRON_TZ=Asia/Tokyo */5 * * * *\n  " + tail
	docs, jobs, err := Import("-", []byte(text), options)
	if err != nil || len(docs) != 3 || len(jobs) != 2 {
		t.Fatalf("%d documents, %d jobs, %v", len(docs), len(jobs), err)
	}
	if string(docs[0]) != `{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"yes"}}` || !strings.Contains(string(docs[1]), `{"apiVersion":"v1","kind":"Service"}`) {
		t.Errorf("%s\n%s", docs[0], docs[1])
	}
	a, b := jobs[0], jobs[1]
	if a.Job.Job != "k8s/default-a" || !a.Job.Paused || a.Job.Schedule.Zone != "UTC" || len(a.Notes) != 1 || !strings.HasPrefix(a.Notes[0], "no timeZone: taken as UTC") {
		t.Errorf("%+v", a)
	}
	if b.Job.Schedule.Zone != "Asia/Tokyo" || b.Job.Schedule.Cron != "*/5 * * * *" || !b.Wrapped || b.Job.Task.Watch.Grace != job.DefaultWatchGrace {
		t.Errorf("%+v", b)
	}
}

func TestAContainerWithoutCommandIsLeftAlone(t *testing.T) {
	doc, c := one(t, strings.Replace(backup, "            command: [sh, -c, \"echo '1e3' $(DB) # all\"]\n", "", 1))
	if c.Wrapped || strings.Contains(doc, "carillon") || !strings.HasPrefix(c.Notes[0], "container main has no command") || !strings.Contains(c.Notes[0], "https://c.example.com/ping/TOKEN/$?") {
		t.Errorf("%+v\n%s", c, doc)
	}
}

func TestWhatIsNoManifestIsRefusedByName(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, _, err := Import("f.yaml", []byte(text), options)
		if !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	replace := func(from, to string) string { return strings.Replace(backup, from, to, 1) }
	f(replace(`"0 3 * * *"`, `{{ .Values.schedule }}`), "line 5 of f.yaml is of a Helm template; render the chart first")
	f("kind: Service\n", "f.yaml has no CronJob of batch/v1")
	f("", "f.yaml has no CronJob of batch/v1")
	f("a: [\n", "document 1 of f.yaml is no YAML")
	f(replace("batch/v1", "batch/v1beta1"), `document 1 of f.yaml: apiVersion "batch/v1beta1" of a CronJob must be batch/v1`)
	f(replace(`"0 3 * * *"`, `"0 25 * * *"`), `CronJob shop/backup: spec.schedule hour "25"`)
	f(replace(`"0 3 * * *"`, `"@every 5m"`), "counts from the start of the controller")
	f(replace(`"0 3 * * *"`, `"0 0 3 * * *"`), "has 6 fields; must have 5")
	f(replace("Europe/Berlin", "Mars"), `"Mars"`)
	f(replace("name: backup, ", ""), "metadata.name is missing")
	f("---\n"+strings.Repeat("#", maxDocument)+"\n", "at most 1048576 are read")
}
