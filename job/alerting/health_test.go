package alerting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAChannelIsAsHealthyAsItsLastAttempts(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 5, 9, minute, 0, 0, time.UTC) }
	refused := Say("answered", "answer", "500")
	failed := func(channel string, minute, attempts int, state DeliveryState) Delivery {
		d := Delivery{Channel: channel, State: state, Attempts: attempts, TriedAt: at(minute), Answer: &Answer{Status: "500"}}
		d.Because(refused)
		return d
	}
	sent := func(channel string, minute int) Delivery {
		return Delivery{Channel: channel, State: Sent, Attempts: 1, TriedAt: at(minute), SentAt: at(minute)}
	}
	onItsWay := failed("hook", 8, 3, Waiting)
	onItsWay.Claim = 7
	got := HealthOf([]Incident{
		{Deliveries: []Delivery{failed("hook", 6, 5, Dropped), sent("hook", 3), failed("hook", 2, 9, Failed)}},
		{Deliveries: []Delivery{sent("mail", 1), {Channel: "mail", State: Waiting}, onItsWay}},
		{Deliveries: []Delivery{failed("mail", 0, 4, Failed), {Channel: "chat", State: Waiting}}},
	})
	want := map[string]Health{
		"hook": {
			SentAt: at(3), Failures: 5 + 2, TriedAt: at(8), Answer: &Answer{Status: "500"},
			Reason: refused.English(), ReasonCode: refused.Code, ReasonParams: refused.Params,
		},
		"mail": {SentAt: at(1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
