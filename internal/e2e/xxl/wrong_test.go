//go:build unix

package xxl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// behave changes how a stand-in answers.
func (p *peer) behave(t *testing.T, m xxlstandin.Manner) {
	t.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	p.control(t, "behave", body)
}

// forget makes a stand-in lose its runs, as a restart does that nobody notices.
func (p *peer) forget(t *testing.T) {
	t.Helper()
	p.control(t, "forget", nil)
}

func (p *peer) control(t *testing.T, what string, body []byte) {
	t.Helper()
	resp, err := http.Post(p.address+"/standin/"+what, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("/standin/%s answers %s", what, resp.Status)
	}
}

// TestAnExecutorThatAnswersWronglyStopsNobodyElse has one of two executors of different groups answer
// wrongly, while runs of the other go on.
func TestAnExecutorThatAnswersWronglyStopsNobodyElse(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "good-app")
	s.attach(1, standIn)
	bad := newPeer(t, standIn, settings{admin: strings.Join(s.admins, ","), appname: "bad-app", token: token})
	bad.Begin(t)
	b := &system{t: t, appname: "bad-app", api: s.api, peers: []*peer{bad}}
	b.awaitInstances(1)
	s.save(t, "well", `"task": {"handler": "success"}`)
	b.save(t, "ill", `"task": {"handler": "success"}, "timeout": "20s"`)
	s.await(t, s.run(t, "well", "before"), job.StatusSucceeded)
	b.await(t, b.run(t, "ill", "before"), job.StatusSucceeded)

	for name, m := range map[string]xxlstandin.Manner{
		"an array":          {Body: `[{"logId":1,"handleCode":500,"handleMsg":"There are tasks running"}]`},
		"HTML":              {Body: "<html><body>502 Bad Gateway</body></html>"},
		"nothing":           {Body: " "},
		"status 503":        {Status: http.StatusServiceUnavailable, Body: "away"},
		"after ten seconds": {After: 10 * time.Second},
		"never":             {Never: true},
		"too much":          {Body: `{"code":200,"msg":"` + strings.Repeat("x", 40<<20) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			bad.behave(t, m)
			id := b.run(t, "ill", name)
			for i := range 20 {
				begun := time.Now()
				s.await(t, s.run(t, "well", fmt.Sprint(name, i)), job.StatusSucceeded)
				if took := time.Since(begun); took > 5*time.Second {
					t.Errorf("a run of another executor took %s", took)
				}
			}
			bad.behave(t, xxlstandin.Manner{})
			// Whatever it says, the run has one end, and is begun once at most beside an end that says so.
			r := b.await(t, id, job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost)
			t.Logf("the run is %s: %q %q", r.Status, r.Message, r.Reason)
			if n := b.count(t, name); n > 1 || n == 0 && r.Status == job.StatusSucceeded {
				t.Errorf("the run is %s and was begun %d times", r.Status, n)
			}
			b.awaitInstances(1)
		})
	}
}

// TestARunWhoseAcceptanceWasNotHeardIsBegunOnce has an executor take a run and not say so.
func TestARunWhoseAcceptanceWasNotHeardIsBegunOnce(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "mute-app")
	s.attach(1, standIn)
	for _, delivery := range []job.Delivery{job.AtMostOnce, job.AtLeastOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			name := strings.ReplaceAll(string(delivery), "_", "-")
			s.save(t, name, fmt.Sprintf(`"task": {"handler": "slow"}, "delivery": %q`, delivery))
			s.peers[0].behave(t, xxlstandin.Manner{Mute: true})
			param := "6000 " + name
			id := s.run(t, name, param)
			s.awaitStart(t, param)
			s.peers[0].behave(t, xxlstandin.Manner{})
			s.await(t, id, job.StatusSucceeded)
			if n := s.count(t, param); n != 1 {
				t.Errorf("the run was begun %d times", n)
			}
		})
	}
}

// TestARunThatItsExecutorHasForgottenFollowsThePolicyOfItsJob has an executor lose its runs though it
// answers all the time.
func TestARunThatItsExecutorHasForgottenFollowsThePolicyOfItsJob(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "forgetful-app")
	s.attach(1, standIn)
	s.save(t, "again", `"task": {"handler": "slow"}`)
	s.save(t, "once", `"task": {"handler": "slow"}, "delivery": "at_most_once"`)
	again, once := s.run(t, "again", "3000 again"), s.run(t, "once", "3000 once")
	s.awaitStart(t, "3000 again")
	s.awaitStart(t, "3000 once")
	s.peers[0].forget(t)
	const silence = 90 * time.Second // of the bridge
	processtest.Await(t, silence+processtest.Patience, "wait for the end of both", func() error {
		for _, id := range []job.RunID{again, once} {
			if is, r, err := s.status(t, id); err != nil || !is.Final() {
				return fmt.Errorf("run %s is %s (%s, %s): %w", id, is, r.Message, r.Reason, err)
			}
		}
		return nil
	})
	s.await(t, again, job.StatusSucceeded)
	s.await(t, once, job.StatusLost)
	if n := s.count(t, "3000 once"); n != 1 {
		t.Errorf("a run that is at most once was begun %d times", n)
	}
}

// TestABridgeRefusesWhatIsNoMessage sends nonsense to a bridge.
func TestABridgeRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "any-app")
	s.attach(1, standIn)
	s.save(t, "job", `"task": {"handler": "success"}`)
	send := func(path, body string) (status int, out outcome) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.admins[0]+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			t.Errorf("%s %.50q: %v", path, body, err)
		}
		return resp.StatusCode, out
	}
	for _, path := range []string{"/api/registry", "/api/registryRemove", "/api/callback"} {
		for _, body := range []string{
			"", "no JSON", "null", "{", "[", "5", `"x"`, `{"registryGroup":5}`, `[{"logId":"x"}]`, `{"registryGroup":"EXECUTOR","registryKey":"","registryValue":""}`,
			`{"registryGroup":"EXECUTOR","registryKey":"any-app","registryValue":"no address"}`, `{"registryGroup":"EXECUTOR","registryKey":"any-app","registryValue":"ftp://127.0.0.1/"}`, strings.Repeat("[", 1<<20),
		} {
			if status, out := send(path, body); status != http.StatusOK || out.Code != 500 || out.Msg == "" {
				t.Errorf("%s %.60q is answered by status %d, code %d, %q", path, body, status, out.Code, out.Msg)
			}
		}
	}
	for _, body := range []string{
		`[{"logId":-5,"logDateTim":1,"handleCode":200}]`, `[{"logId":9223372036854775807,"logDateTim":1,"handleCode":200,"handleMsg":"who?"}]`, `[]`,
		`[{"logId":1,"handleCode":999}]`,
	} {
		// With success: no run has the number, and an executor repeats for ever what is refused.
		if status, out := send("/api/callback", body); status != http.StatusOK || out.Code != 200 || out.Msg != "" {
			t.Errorf("%s is answered by status %d, code %d, %q", body, status, out.Code, out.Msg)
		}
	}
	s.await(t, s.run(t, "job", "after"), job.StatusSucceeded)
}
