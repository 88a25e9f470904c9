package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// pagerDutyURL is where PagerDuty takes events, unless the channel has another region's.
const pagerDutyURL = "https://events.pagerduty.com/v2/enqueue"

// sendPage sends an event to PagerDuty. All of an incident have one key, by which that
// drops what comes twice, and knows which of its own incidents is over.
func (s *sender) sendPage(ctx context.Context, c *alerting.Channel, secrets map[string]string, m *Message) (reply, error) {
	address := c.URL
	if address == "" {
		address = pagerDutyURL
	}
	event := map[string]any{"routing_key": secrets[alerting.SecretRouting], "dedup_key": m.Incident.ID, "event_action": "trigger"}
	if m.Event == alerting.Recovery {
		event["event_action"] = "resolve"
	} else {
		details := map[string]string{}
		for _, f := range m.facts {
			details[f.name] += f.value + "\n"
		}
		event["payload"] = map[string]any{
			"summary": clip.Runes(m.Title, 1000), "source": "carillon", "severity": string(m.Incident.Severity),
			"timestamp": m.Incident.OpenedAt.UTC().Format(time.RFC3339), "component": m.Incident.Subject, "group": m.Incident.Group,
			"class": m.Incident.Rule, "custom_details": details,
		}
		if m.Link != "" {
			event["links"] = []any{map[string]string{"href": m.Link, "text": "Carillon"}}
		}
	}
	data, err := json.Marshal(event)
	if err != nil {
		return reply{}, fmt.Errorf("encode event: %w", err)
	}
	return s.call(ctx, address, nil, data)
}
