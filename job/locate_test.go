package job

import "testing"

func TestWhatCannotBeReadNamesItsField(t *testing.T) {
	f := func(document, want string) {
		t.Helper()
		_, err := Decode([]byte(document))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", document, err, want)
		}
	}
	f(`{"job": "a/b", "task": {"shell": "x"}, "timeout": 3}`,
		`timeout duration 3 must be text with a unit, such as "90s"`)
	f(`{"job": "a/b", "timeout": "5m", "schedule": {"zone": "UTC", "fixed_rate": "soon"}}`,
		`schedule.fixed_rate duration "soon" must be a number with a unit, such as "90s", "5m", "1h30m" or "7d"`)
	f(`{"job": "a/b", "schedule": {"once": "2026-02-30T00:00:00Z"}}`,
		`schedule.once "2026-02-30T00:00:00Z" must be an instant that exists, in RFC 3339, such as 2026-03-01T09:00:00+01:00`)
	f(`{"job": "a/b", "misfire": {"grace": 5}}`,
		`misfire.grace duration 5 must be text with a unit, such as "90s"`)
	f(`{"job": "a/b", "schedule": {"cron": 5}}`, `schedule.cron must be text, not number`)
	f(`{"job": "a/b", "schedule": {"zone": "UTC", "cron ": "@daily"}}`, `schedule.cron  is not a known field; write cron`)
	f(`{"job": "a/b", "task": {"http": {"url": "http://x", "verb": {"verb": 1}}}}`, `task.http.verb is not a known field`)
	f(`{"task": {"shell": "x"}, "schedule": {"zone": "UTC"}, "job ": 1}`, `job  is not a known field; write job`)
	f(`{"task": {"shell": "x"}}`, `job is missing: GROUP/NAME, for example billing/nightly-report`)
	f(`[]`, `must be an object, not array`)
	f(`{"job": `, `the document ends too early`)
}
