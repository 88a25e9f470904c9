package all_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAnAlertIsSetUpTriedSentAndAcknowledged(t *testing.T) {
	type message struct {
		Event, Title string
		Incident     struct{ Incident string }
	}
	got := make(chan message, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m message
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil || !strings.HasPrefix(r.Header.Get("Carillon-Signature"), "t=") {
			t.Errorf("got %s, signed %q: %v", data, r.Header.Get("Carillon-Signature"), err)
		}
		got <- m
	}))
	t.Cleanup(hook.Close)
	s := clitest.New(t)
	documents := "alert: failures\nmatch: {groups: [default]}\nchannels: [ops]\n---\nchannel: ops\nkind: webhook\nurl: " + hook.URL + "\n" +
		"---\njob: default/broken\ntask: {shell: exit 3}\n"
	s.Want("created  alert    failures\ncreated  channel  ops\ncreated  job      default/broken\n3 created\n", documents, "apply", "-f", "-")
	s.Want("unchanged  alert    failures\nunchanged  channel  ops\nunchanged  job      default/broken\n3 unchanged\n", documents, "apply", "-f", "-")
	s.Want("changed  alert  failures\n    + repeat: \"1h\"\n1 changed\n", "alert: failures\nrepeat: 1h\nmatch: {groups: [default]}\nchannels: [ops]\n", "apply", "-f", "-")
	s.WantError(cli.ExitError, "carillon: stdin:2: channels[0] ", "alert: x\nchannels: [Nobody]\n", "apply", "-f", "-")
	s.Want("changed  channel  ops\n    ~ language: \"en\" -> \"zh\"\n    ~ zone: \"UTC\" -> \"Asia/Shanghai\"\n1 changed\n",
		"channel: ops\nkind: webhook\nlanguage: zh\nzone: Asia/Shanghai\nurl: "+hook.URL+"\n", "apply", "-f", "-")
	s.WantError(cli.ExitError, "carillon: stdin:3: zone ", "channel: ops\nkind: webhook\nzone: Peking\nurl: "+hook.URL+"\n", "apply", "-f", "-")
	s.Want("changed  channel  ops\n    ~ language: \"zh\" -> \"en\"\n    ~ zone: \"Asia/Shanghai\" -> \"UTC\"\n1 changed\n", "channel: ops\nkind: webhook\nurl: "+hook.URL+"\n", "apply", "-f", "-")
	s.Want("secret secret of channel ops is set\n", "s3cret\n", "alert", "secret", "ops", "secret")
	s.Want("CHANNEL  KIND     TO                      LANGUAGE  ZONE  SECRETS  MISSING  DELIVERY\nops      webhook  "+hook.URL+"  en        UTC   secret   -        -\n", "", "get", "channels")
	if code, out, errOut := s.Run("", "alert", "test", "ops"); code != 0 || !regexp.MustCompile(`^test message accepted by channel ops: 200 OK in \S+\n$`).MatchString(out) {
		t.Errorf("the channel's test says %q, and %s", out, errOut)
	}
	if m := <-got; m.Event != "test" {
		t.Errorf("message %+v", m)
	}
	s.Want("CHANNEL  KIND     TO                      LANGUAGE  ZONE  SECRETS  MISSING  DELIVERY\nops      webhook  "+hook.URL+"  en        UTC   secret   -        ok\n", "", "get", "channels")
	s.Want("no incidents\n", "", "get", "incidents")
	if code, _, errOut := s.Run("", "run", "default/broken", "--wait"); code == 0 {
		t.Errorf("the job succeeds: %s", errOut)
	}
	m := <-got
	if m.Event != "opened" || m.Title != "default/broken failed" {
		t.Errorf("message %+v", m)
	}
	id := m.Incident.Incident
	s.Want("incident "+id+" is snoozed: default/broken failed\n", "", "alert", "snooze", id, "--for", "2h")
	if code, out, errOut := s.Run("", "get", "incidents", "--state", "snoozed", "-o", "json"); code != 0 || !strings.Contains(out, id) {
		t.Errorf("snoozed incidents: %s%s", out, errOut)
	}
	s.Want("no incidents\n", "", "get", "incidents", "--state", "firing")
	s.Want("incident "+id+" is not snoozed: default/broken failed\n", "", "alert", "snooze", id, "--end")
	s.Want("incident "+id+" is acknowledged: default/broken failed\n", "", "alert", "acknowledge", id, "--note", "on it")
	s.Want("incident "+id+" is resolved: default/broken failed\n", "", "alert", "resolve", id)
	if m := <-got; m.Event != "recovered" {
		t.Errorf("message %+v", m)
	}
	if code, out, errOut := s.Run("", "get", "deliveries", "--since", "1h"); code != 0 || !strings.Contains(out, "opened") || !strings.Contains(out, "recovered") {
		t.Errorf("deliveries: %s%s", out, errOut)
	}
	s.Want("no deliveries\n", "", "get", "deliveries", "--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02T00:00:00Z")
	s.WantError(cli.ExitUsage, "carillon: --from \"noon\" must be a time in RFC 3339, such as 2026-03-01T09:00:00Z\nSee \"carillon get deliveries --help\".\n", "", "get", "deliveries", "--from", "noon")
	s.Want("rule failures deleted\n", "", "alert", "delete", "rule", "failures")
	s.Want("channel ops deleted\n", "", "alert", "delete", "channel", "ops")
}
