//go:build unix

package xxl

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// manager calls the job API of a bridge as an executor's program does.
type manager struct {
	address, appname string
}

// answer is what the job API answers.
type answer struct {
	Code int     `json:"code"`
	Msg  string  `json:"msg"`
	Data *string `json:"data"`
}

func (m manager) ask(t *testing.T, act, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.address+"/api/"+act, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
	r.Header.Set("XXL-JOB-APPNAME", m.appname)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// wait waits until the bridge answers.
func (m manager) wait(t *testing.T) {
	t.Helper()
	processtest.Await(t, processtest.Patience, "wait for the bridge", func() error {
		resp, err := http.Get(m.address)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	})
}

// done wants an act to succeed, and returns what it answers.
func (m manager) done(t *testing.T, act, body string) string {
	t.Helper()
	a := m.ask(t, act, body)
	if a.Code != 200 {
		t.Fatalf("%s with %s: %d, %s", act, body, a.Code, a.Msg)
	}
	if a.Data == nil {
		return ""
	}
	return *a.Data
}

// refused wants an act to be refused with a message.
func (m manager) refused(t *testing.T, act, body, want string) {
	t.Helper()
	if a := m.ask(t, act, body); a.Code != 500 || !strings.Contains(a.Msg, want) {
		t.Errorf("%s with %s: %d, %q; want %q", act, body, a.Code, a.Msg, want)
	}
}

// definition returns a job as it is now.
func (s *system) definition(t *testing.T, name string) (job.Version, error) {
	t.Helper()
	item, err := client.Read[client.JobItem](s.api.GetJob(t.Context(), s.appname, name, &client.GetJobParams{}))
	return item.Definition, err
}

// TestExecutorsManageJobsOfTheirGroup calls the job API of dialect C.
func TestExecutorsManageJobsOfTheirGroup(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "jobs-app")
	s.attach(1, standIn)
	file := filepath.Join(t.TempDir(), "api-token")
	if err := os.WriteFile(file, []byte(s.token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	without := manager{strings.TrimSuffix(s.admins[0], "/xxl-job-admin"), s.appname}
	own := filepath.Join(t.TempDir(), "access-tokens")
	if err := os.WriteFile(own, []byte("token-of-all\n"+s.appname+" "+token+"\nanother-app "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := manager{"http://" + s.bridge(t, "--access-token-file", own, "--api", s.api.Address(), "--api-token-file", file, "--zone", "Asia/Shanghai"), s.appname}
	m.wait(t)

	const rest = `"author": "ann", "scheduleType": "CRON", "scheduleConf": "0 0/5 * * * ?", "misfireStrategy": "FIRE_ONCE_NOW", "executorRouteStrategy": "ROUND",
		"executorHandler": "success", "executorParam": "", "executorBlockStrategy": "DISCARD_LATER", "executorTimeout": 30, "executorFailRetryCount": 2, "glueType": "BEAN"`
	id := m.done(t, "addJob", `{"jobGroup": 1, "name": "任务", `+rest+`}`)
	got, err := s.definition(t, "success")
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "任务" || got.Owner != "ann" || got.Schedule.Cron != "0 0/5 * * * ?" || got.Schedule.Zone != "Asia/Shanghai" || got.Misfire.Policy != job.FireOnce ||
		got.Route != "round_robin" || got.Overlap.Policy != "skip" || got.Retry.Limit != 2 || got.Timeout.String() != "30s" || got.Author == "" {
		t.Errorf("made %+v", got)
	}
	paused := func(want bool) {
		t.Helper()
		if got, err = s.definition(t, "success"); err != nil || got.Paused != want {
			t.Errorf("paused %v, %v; want %v", got.Paused, err, want)
		}
	}
	paused(true) // until it is started, as in XXL-JOB
	number := `{"id": ` + id + `}`
	m.done(t, "startJob", number)
	paused(false)
	m.done(t, "stopJob", number)
	paused(true)
	other := m.done(t, "addJob", `{"jobGroup": 1, "name": "the second with this handler", `+rest+`}`)
	if got, err := s.definition(t, "success-"+other); err != nil || other == id {
		t.Errorf("the second job is %+v, %v", got, err)
	}

	// A run of it is one of ours, with the parameter of the request.
	m.done(t, "triggerJob", `{"id": `+id+`, "executorParam": "from outside", "addressList": ""}`)
	var run job.RunID
	processtest.Await(t, processtest.Patience, "wait for the run", func() error {
		page, err := client.Read[client.RunPage](s.api.ListRuns(t.Context(), &client.ListRunsParams{Group: &s.appname}))
		if err != nil || len(page.Items) == 0 {
			return errors.Join(err, errors.New("there is none"))
		}
		run = page.Items[0].RunID
		return nil
	})
	s.await(t, run, job.StatusSucceeded)
	if n := s.count(t, "from outside"); n != 1 {
		t.Errorf("the handler began %d times with the parameter", n)
	}

	m.done(t, "triggerJob", `{"id": `+id+`, "executorParam": "at one", "addressList": "`+s.peers[0].address+`"}`)
	s.awaitStart(t, "at one")

	// An update leaves what XXL-JOB does not know.
	s.save(t, "success", `"schedule": {"cron": "0 0/5 * * * ?", "zone": "Europe/Berlin", "spread": "1m"}, "task": {"handler": "success"}, "tags": ["mine"], "children": [{"job": "`+s.appname+`/success-`+other+`"}]`)
	m.done(t, "updateJob", `{"id": `+id+`, "name": "new name", `+strings.Replace(rest, "0/5", "0/7", 1)+`}`)
	want := []any{"new name", "0 0/7 * * * ?", "Europe/Berlin", "1m0s", []string{"mine"}, 1}
	if got, err = s.definition(t, "success"); err != nil || !reflect.DeepEqual(want, []any{got.Title, got.Schedule.Cron, got.Schedule.Zone, got.Schedule.Spread.Std().String(), got.Tags, len(got.Children)}) {
		t.Errorf("updated to %+v, %v; want %v", got, err, want)
	}

	// A job that was imported is known by its old number, before it has run here.
	if _, err := client.Read[client.PutJobResult](s.api.PutJobWithBody(t.Context(), s.appname, "old", &client.PutJobParams{Note: new("XXL-JOB 77")}, "application/json",
		strings.NewReader(fmt.Sprintf(`{"job": "%s/old", "schedule": {"cron": "0 0 * * * ?"}, "task": {"handler": "success"}}`, s.appname)))); err != nil {
		t.Fatal(err)
	}
	m.done(t, "stopJob", `{"id": 77}`)
	if got, err := s.definition(t, "old"); err != nil || !got.Paused {
		t.Errorf("the imported job is %+v, %v", got, err)
	}

	m.done(t, "removeJob", `{"id": `+other+`}`)
	if _, err := s.definition(t, "success-"+other); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("after removeJob: %v", err)
	}

	manager{m.address, "another-app"}.refused(t, "removeJob", number, "is no job of group another-app")
	manager{m.address, "third-app"}.refused(t, "removeJob", number, "must be the group's own")
	shared := manager{"http://" + s.bridge(t, "--api", s.api.Address(), "--api-token-file", file), s.appname}
	shared.wait(t)
	shared.refused(t, "startJob", number, "must be the group's own") // its token is that of all groups
	manager{m.address, ""}.refused(t, "startJob", number, "AppName")
	without.refused(t, "startJob", number, "--api")
	m.refused(t, "startJob", `{"id": 4711}`, "4711 is no job")
	m.refused(t, "startJob", `{}`, "id")
	m.refused(t, "startJob", `[1]`, "must be a JSON object")
	m.refused(t, "triggerJob", `{"id": `+id+`, "addressList": "http://10.0.0.1:9999,http://10.0.0.2:9999"}`, "addressList")
	for field, broken := range map[string]string{
		"scheduleType": strings.Replace(rest, `"CRON"`, `"WEEKLY"`, 1), "schedule.cron": strings.Replace(rest, "0 0/5", "0 77/5", 1),
		"executorRouteStrategy": strings.Replace(rest, "ROUND", "NEAREST", 1), "executorBlockStrategy": strings.Replace(rest, "DISCARD_LATER", "WAIT", 1),
		"executorHandler": strings.Replace(rest, `"success"`, `""`, 1), "executorTimeout": strings.Replace(rest, "30", "-30", 1),
	} {
		m.refused(t, "addJob", `{"jobGroup": 1, "name": "x", `+broken+`}`, field)
	}
}
