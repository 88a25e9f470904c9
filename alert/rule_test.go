package alert

import (
	"errors"
	"strings"
	"testing"
	"time"

	"carillon/job"
	"carillon/job/alerting"
)

func TestRulesThatCannotBeMeantAreRefusedByField(t *testing.T) {
	f := func(document, field string) {
		t.Helper()
		_, err := DecodeRule([]byte(document))
		problems := job.Problems(err)
		if field == "" && err != nil || field != "" && (len(problems) == 0 || problems[0].Field != field) {
			t.Errorf("%s: %v, want a problem with %q", document, err, field)
		}
	}
	f(`{"alert": "a", "when": {}, "channels": []}`, "")
	f(`{"alert": "a", "when": {"in_a_row": 3}, "channels": ["x"]}`, "")
	f(`{"alert": "A b", "when": {}, "channels": []}`, "alert")
	f(`{"alert": "a", "when": {"ends": ["failed"], "stream_full": 80}, "channels": []}`, "when")
	f(`{"alert": "a", "when": {"ends": ["running"]}, "channels": []}`, "when.ends[0]")
	f(`{"alert": "a", "when": {"ends": ["skipped"]}, "channels": []}`, "when.ends[0]")
	f(`{"alert": "a", "when": {"starts_within": "1ms"}, "channels": []}`, "when.starts_within")
	f(`{"alert": "a", "when": {"slower_than_p95": 0.5}, "channels": []}`, "when.slower_than_p95")
	f(`{"alert": "a", "when": {"stream_full": 101}, "channels": []}`, "when.stream_full")
	f(`{"alert": "a", "when": {}, "match": {"jobs": ["x"]}, "channels": []}`, "match.jobs[0]")
	f(`{"alert": "a", "when": {}, "severity": "awful", "channels": []}`, "severity")
	f(`{"alert": "a", "when": {}, "repeat": "1s", "channels": []}`, "repeat")
	f(`{"alert": "a", "when": {}, "channels": ["../x"]}`, "channels[0]")
	f(`{"alert": "a", "whenever": {}}`, "whenever")
}

func TestChannelsThatCannotWorkOrWouldLeakAreRefused(t *testing.T) {
	f := func(document, field string) {
		t.Helper()
		_, err := DecodeChannel([]byte(document))
		problems := job.Problems(err)
		if field == "" && err != nil || field != "" && (len(problems) == 0 || problems[0].Field != field) {
			t.Errorf("%s: %v, want a problem with %q", document, err, field)
		}
	}
	f(`{"channel": "c", "kind": "webhook", "url": "https://example.org/x", "headers": {"X-Team": "ops"}, "body": "{{json .Title}}"}`, "")
	f(`{"channel": "c", "kind": "slack"}`, "")
	f(`{"channel": "c", "kind": "pigeon"}`, "kind")
	f(`{"channel": "c", "kind": "webhook"}`, "url")
	f(`{"channel": "c", "kind": "webhook", "url": "ftp://example.org"}`, "url")
	f(`{"channel": "c", "kind": "webhook", "url": "https://u:p@example.org"}`, "url")
	f(`{"channel": "c", "kind": "slack", "url": "https://hooks.example.org/secret"}`, "url")
	f(`{"channel": "c", "kind": "webhook", "url": "https://example.org", "headers": {"X-A": "b\r\nX-C: d"}}`, "headers")
	f(`{"channel": "c", "kind": "webhook", "url": "https://example.org", "headers": {"X A": "b"}}`, "headers")
	f(`{"channel": "c", "kind": "webhook", "url": "https://example.org", "body": "{{.Title"}`, "body")
	f(`{"channel": "c", "kind": "webhook", "url": "https://example.org", "body": "{{exec \"id\"}}"}`, "body")
	f(`{"channel": "c", "kind": "email"}`, "email")
	f(`{"channel": "c", "kind": "email", "email": {"host": "mail", "from": "a@b.org", "to": ["c@d.org"]}}`, "")
	f(`{"channel": "c", "kind": "email", "email": {"host": "mail", "from": "a@b.org", "to": ["c@d.org\r\nBcc: x@y.org"]}}`, "email.to[0]")
	f(`{"channel": "c", "kind": "email", "email": {"host": "mail", "from": "a@b.org", "to": ["c@d.org"], "user": "a", "tls": "none"}}`, "email.tls")
	f(`{"channel": "c", "kind": "email", "email": {"host": "mail:25", "from": "a@b.org", "to": ["c@d.org"]}}`, "email.host")
	f(`{"channel": "c", "kind": "slack", "quiet_hours": {"from": "22:00", "to": "25:00"}}`, "quiet_hours.to")
	f(`{"channel": "c", "kind": "slack", "quiet_hours": {"from": "22:00", "to": "07:00", "zone": "Mars/Olympus"}}`, "quiet_hours.zone")
}

func TestSecretsAreOnesThatTheKindHas(t *testing.T) {
	c := alerting.Channel{Channel: "c", Kind: alerting.KindDingTalk}
	for _, s := range []struct{ name, value, field string }{
		{alerting.SecretURL, "https://example.org/robot?access_token=x", ""},
		{alerting.SecretSign, "SEC1", ""},
		{alerting.SecretURL, "file:///etc/passwd", "value"},
		{alerting.SecretSign, "a\nb", "value"},
		{alerting.SecretRouting, "x", "secret"},
	} {
		err := c.CheckSecret(s.name, s.value)
		var bad *job.InvalidError
		if s.field == "" && err != nil || s.field != "" && (!errors.As(err, &bad) || bad.Field != s.field) {
			t.Errorf("%s %q: %v, want a problem with %q", s.name, s.value, err, s.field)
		}
	}
}

func TestQuietHoursKnowTheirZoneAndTheirDays(t *testing.T) {
	f := func(q alerting.Quiet, now, want string) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if end := q.Until(at); !end.IsZero() {
			got = end.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%+v at %s: until %q, want %q", q, now, got, want)
		}
	}
	night := alerting.Quiet{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}
	f(night, "2026-01-05T20:59:59Z", "")
	f(night, "2026-01-05T21:00:00Z", "2026-01-06T06:00:00Z")
	f(night, "2026-01-06T05:59:59Z", "2026-01-06T06:00:00Z")
	f(night, "2026-01-06T06:00:00Z", "")
	f(night, "2026-03-28T23:00:00Z", "2026-03-29T05:00:00Z") // an hour shorter
	lunch := alerting.Quiet{From: "12:00", To: "13:30", Zone: "UTC", Days: []string{"mon"}}
	f(lunch, "2026-01-05T12:00:00Z", "2026-01-05T13:30:00Z")
	f(lunch, "2026-01-05T13:30:00Z", "")
	f(lunch, "2026-01-06T12:00:00Z", "")
	weekend := alerting.Quiet{From: "22:00", To: "09:00", Zone: "UTC", Days: []string{"sat"}}
	f(weekend, "2026-01-11T08:00:00Z", "2026-01-11T09:00:00Z") // Sunday: it began on Saturday
	f(weekend, "2026-01-10T08:00:00Z", "")
}

func TestForeignTextStaysOneLineAndNoMarkup(t *testing.T) {
	inc := &alerting.Incident{ID: "i", Severity: alerting.Warning, Summary: "a/b failed\r\nBcc: x@y.org", Jobs: []alerting.Affected{{
		Job: "a/b", Status: job.StatusFailed, Message: "see\nalert: forged\n<!channel> [click](https://evil.example) <https://evil.example|here>",
	}}}
	m := (&sender{link: "https://carillon.test/"}).message(inc, &alerting.Delivery{ID: "1", Kind: alerting.Opened})
	if strings.ContainsAny(m.Title, "\r\n") || strings.Contains(m.Text, "\nalert: forged") {
		t.Errorf("a run has written lines of its own: %q, %q", m.Title, m.Text)
	}
	if text := slackBody(m)["blocks"].([]any)[0].(map[string]any)["text"].(map[string]any)["text"].(string); strings.Contains(text, "<!channel>") || strings.Contains(text, "<https://evil") {
		t.Errorf("Slack gets a mention or a link: %s", text)
	}
	if text := markdown(m, "\n"); strings.Contains(text, "](https://evil") {
		t.Errorf("markdown has a link: %s", text)
	}
}
