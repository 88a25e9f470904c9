package alert

import (
	"encoding/json"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// resolvedIncident returns an incident about two jobs that is over.
func resolvedIncident() *alerting.Incident {
	at := time.Date(2026, 1, 5, 19, 0, 0, 0, time.UTC)
	r := &alerting.Rule{Alert: "nightly", Severity: alerting.Critical, GroupBy: alerting.ByGroup}
	bad := func(name job.Name, seq uint64) *alerting.Finding {
		o := outcome{Job: name, RunID: "r1", Status: job.StatusTimedOut, Message: "disk full", At: at}
		_, summary := judge(&alerting.Rule{When: alerting.Condition{Ends: []job.Status{job.StatusTimedOut}}}, &o, nil)
		return &alerting.Finding{Rule: r, Subject: "group billing", Group: "billing", Summary: summary, At: at, Seq: seq, Job: o.affected()}
	}
	inc := alerting.NewIncident(bad("billing/report", 1))
	inc.Add(bad("billing/export", 2))
	inc.Jobs[1].Say(alerting.Say("fired_at", "fire_time", "2026-01-05T18:00:00Z"))
	inc.End(at.Add(time.Hour), alerting.Say("resolved_by", "by", "mia"))
	return inc
}

func TestAMessageIsInTheLanguageAndZoneOfItsChannel(t *testing.T) {
	f := func(c alerting.Channel, title string, lines ...string) {
		t.Helper()
		c = c.WithDefaults()
		inc := resolvedIncident()
		m := (&sender{}).message(inc, &alerting.Delivery{ID: "1", Kind: alerting.Recovery}, c.Reader())
		if m.Title != title {
			t.Errorf("title %q, want %q", m.Title, title)
		}
		lines[0] += inc.ID
		if want := strings.Join(lines, "\n"); m.Text != want {
			t.Errorf("text\n%s\nwant\n%s", m.Text, want)
		}
	}
	f(alerting.Channel{}, "Resolved: billing/export timed out, and 1 other job",
		"incident: ", "alert: nightly", "severity: critical", "since: 2026-01-05 19:00:00 UTC",
		"resolved: 2026-01-05 20:00:00 UTC, resolved by mia", "times: 2",
		"job: billing/report timed_out, run r1: disk full",
		"job: billing/export timed_out, run r1: fired at 2026-01-05 18:00:00 UTC")
	f(alerting.Channel{Language: alerting.Chinese, Zone: "Asia/Shanghai"}, "已恢复：任务 billing/export 执行超时，另有 1 个任务异常",
		"告警编号：", "告警规则：nightly", "级别：严重", "开始时间：2026-01-06 03:00:00 +08:00 Asia/Shanghai",
		"恢复时间：2026-01-06 04:00:00 +08:00 Asia/Shanghai，由 mia 解决", "异常次数：2",
		"任务：billing/report 执行超时，运行 r1：disk full",
		"任务：billing/export 执行超时，运行 r1：触发时间 2026-01-06 02:00:00 +08:00 Asia/Shanghai")
}

func TestChannelsOfEveryKindSendInTheirLanguageAndZone(t *testing.T) {
	f := func(c alerting.Channel, secrets ...string) string {
		t.Helper()
		url, calls := otherSide(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"errcode":0,"code":0}`) })
		s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
		c.Channel, c.Language, c.Zone = "c", alerting.Chinese, "Asia/Shanghai"
		if c.Kind == alerting.KindWebhook || c.Kind == alerting.KindPagerDuty {
			c.URL = url
		} else {
			secrets = append(secrets, alerting.SecretURL, url)
		}
		e := entry(key, c, secrets...)
		inc := resolvedIncident()
		inc.State = alerting.Open
		if _, err := s.send(t.Context(), e, s.message(inc, &alerting.Delivery{ID: "1", Kind: alerting.Reminder}, e.Doc.Reader())); err != nil {
			t.Fatalf("%s: %v", c.Kind, err)
		}
		body := string((*calls)[0].body)
		for _, part := range []string{"仍未恢复：任务 billing/export 执行超时", "2026-01-06 03:00:00 +08:00 Asia/Shanghai", "告警规则", "disk full"} {
			if !strings.Contains(body, part) {
				t.Errorf("%s gets %s, which lacks %s", c.Kind, body, part)
			}
		}
		for _, part := range []string{"Still open", "timed out", "severity:", "Open in Carillon"} {
			if strings.Contains(body, part) {
				t.Errorf("%s gets %s, which has %s", c.Kind, body, part)
			}
		}
		return body
	}
	for _, kind := range []alerting.Kind{alerting.KindSlack, alerting.KindTeams, alerting.KindDingTalk, alerting.KindWeCom, alerting.KindFeishu} {
		f(alerting.Channel{Kind: kind})
	}
	f(alerting.Channel{Kind: alerting.KindPagerDuty}, alerting.SecretRouting, "R1")
	var got Message
	if err := json.Unmarshal([]byte(f(alerting.Channel{Kind: alerting.KindWebhook})), &got); err != nil {
		t.Fatal(err)
	}
	inc := got.Incident
	if inc.Summary != "任务 billing/export 执行超时，另有 1 个任务异常" || inc.SummaryCode != "run_ended" || inc.SummaryParams["others"] != "1" || inc.OpenedAt.Location() != time.UTC {
		t.Errorf("the incident of a webhook is %+v", inc)
	}
}

func TestMailIsInTheLanguageAndZoneOfTheChannel(t *testing.T) {
	server := newMailServer(t, alerting.TLSNone)
	s, key := newTestSender(t, Config{Allow: []string{"localhost"}})
	c := entry(key, alerting.Channel{
		Channel: "c", Kind: alerting.KindEmail, Language: alerting.Chinese, Zone: "Asia/Shanghai",
		Email: &alerting.Email{Host: "localhost", Port: server.port, TLS: alerting.TLSNone, From: "a@example.org", To: []string{"b@example.org"}},
	})
	if _, err := s.send(t.Context(), c, s.message(resolvedIncident(), &alerting.Delivery{ID: "1", Kind: alerting.Opened}, c.Doc.Reader())); err != nil {
		t.Fatal(err)
	}
	text := decodedMail(t, (<-server.mails).raw)
	for _, part := range []string{"[Carillon] 任务 billing/export 执行超时", "开始时间：2026-01-06 03:00:00 +08:00 Asia/Shanghai"} {
		if !strings.Contains(text, part) {
			t.Errorf("the mail lacks %q:\n%s", part, text)
		}
	}
}

func TestWhatKeepsAMessageFromBeingSentHasACode(t *testing.T) {
	url, _ := otherSide(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "later")
	})
	s, key := newTestSender(t, Config{Allow: []string{"127.0.0.1"}})
	f := func(c *Entry[alerting.Channel], english, chinese string) {
		t.Helper()
		_, err := s.send(t.Context(), c, failing(s, alerting.Opened))
		if err == nil {
			t.Fatal("the message was sent")
		}
		said := alerting.SentenceOf(err)
		if said.English() != english || said.In(alerting.Reader{Language: alerting.Chinese}) != chinese {
			t.Errorf("%+v: %q, %q", said, said.English(), said.In(alerting.Reader{Language: alerting.Chinese}))
		}
	}
	f(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: url}), "answered 503 Service Unavailable: later", "对方响应 503 Service Unavailable：later")
	f(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindSlack}), `the channel has no secret "url" yet`, "渠道尚未设置密钥 url")
	f(entry(key, alerting.Channel{Channel: "c", Kind: alerting.KindWebhook, URL: url, Body: "{{.Nothing}}"}),
		`fill in template: template: body:1:2: executing "body" at <.Nothing>: can't evaluate field Nothing in type *alert.Message`,
		`发送失败：fill in template: template: body:1:2: executing "body" at <.Nothing>: can't evaluate field Nothing in type *alert.Message`)
}

func TestABuiltInRuleSaysWhatItIsForInBothLanguages(t *testing.T) {
	for _, r := range Defaults() {
		if about := About(&r); about.English() != r.Description || r.Description == "" || about.In(alerting.Reader{Language: alerting.Chinese}) == "" {
			t.Errorf("%s is for %+v", r.Alert, about)
		}
	}
	if about := About(&alerting.Rule{Alert: "clocks-wrong", Description: "ours"}); about.Code != "" {
		t.Errorf("a rule that somebody has described is for %+v", about)
	}
	if about := About(&alerting.Rule{Alert: "mine"}); about.Code != "" {
		t.Errorf("a rule that is nobody's is for %+v", about)
	}
}

// decodedMail returns the subject and the text of a mail.
func decodedMail(t *testing.T, raw string) string {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := (&mime.WordDecoder{}).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return subject + "\n" + string(text)
}
