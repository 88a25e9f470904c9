package alert

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

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
	m := (&sender{link: "https://carillon.test/"}).message(inc, &alerting.Delivery{ID: "1", Kind: alerting.Opened}, alerting.Reader{})
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
