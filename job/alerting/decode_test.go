package alerting

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
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
	f(`{"alert": "a", "when": {"ends_within": "1h", "predict": true}, "channels": []}`, "")
	f(`{"alert": "a", "when": {"starts_within": "1h", "predict": true}, "channels": []}`, "when.predict")
	f(`{"alert": "a", "when": {"predict": true}, "channels": []}`, "when.predict")
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
	f(`{"channel": "c", "kind": "slack", "language": "zh", "zone": "Asia/Shanghai"}`, "")
	f(`{"channel": "c", "kind": "slack", "language": "cn"}`, "language")
	f(`{"channel": "c", "kind": "slack", "zone": "Peking"}`, "zone")
	f(`{"channel": "c", "kind": "slack", "zone": "Local"}`, "zone")
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
