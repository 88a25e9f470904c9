package alert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// Message is what a delivery says: what templates of webhooks are about.
type Message struct {
	Key   string                `json:"key"` // the same each time that it is sent
	Event alerting.DeliveryKind `json:"event"`
	Title string                `json:"title"` // one line
	Text  string                `json:"text"`  // several
	Link  string                `json:"link,omitempty"`
	// Incident is what it is about, without its deliveries.
	Incident *alerting.Incident `json:"incident"`

	facts []fact
}

// fact is a line of a message.
type fact struct{ name, value string }

// shownJobs is how many jobs a message names.
const shownJobs = 10

// message makes the message of a delivery.
func (s *sender) message(inc *alerting.Incident, d *alerting.Delivery) *Message {
	about := *inc
	about.Deliveries, about.Seen = []alerting.Delivery{}, nil
	m := &Message{Key: inc.Key(d), Event: d.Kind, Title: title(inc, d.Kind), Incident: &about, facts: facts(inc)}
	if s.link != "" && d.Kind != alerting.Test {
		m.Link = strings.TrimSuffix(s.link, "/") + "/alerts/incidents/" + inc.ID
	}
	lines := []string{}
	for _, f := range m.facts {
		lines = append(lines, f.name+": "+f.value)
	}
	if m.Link != "" {
		lines = append(lines, m.Link)
	}
	m.Text = strings.Join(lines, "\n")
	return m
}

// title tells what happened in one line.
func title(inc *alerting.Incident, kind alerting.DeliveryKind) string {
	switch kind {
	case alerting.Recovery:
		return "Resolved: " + oneLine(inc.Summary)
	case alerting.Reminder:
		return "Still open: " + oneLine(inc.Summary)
	case alerting.Opened, alerting.Test:
	}
	return oneLine(inc.Summary)
}

func facts(inc *alerting.Incident) []fact {
	list := []fact{{"incident", inc.ID}}
	if inc.Rule != "" {
		list = append(list, fact{"alert", inc.Rule})
	}
	list = append(list, fact{"severity", string(inc.Severity)}, fact{"since", inc.OpenedAt.UTC().Format(time.RFC3339)})
	if !inc.ResolvedAt.IsZero() {
		list = append(list, fact{"resolved", inc.ResolvedAt.UTC().Format(time.RFC3339) + ", " + inc.Resolution})
	}
	if inc.AcknowledgedBy != "" {
		list = append(list, fact{"acknowledged by", inc.AcknowledgedBy})
	}
	if inc.Count > 1 {
		list = append(list, fact{"times", strconv.Itoa(inc.Count)})
	}
	for i, a := range inc.Jobs {
		if i == shownJobs {
			list = append(list, fact{"and", fmt.Sprintf("%d other jobs", len(inc.Jobs)+inc.More-shownJobs)})
			break
		}
		value := fmt.Sprintf("%s %s, run %s", a.Job, a.Status, a.RunID)
		if a.Over {
			value = string(a.Job) + " " + string(job.StatusSucceeded)
		}
		if a.Message != "" && !a.Over {
			value += ": " + oneLine(a.Message)
		}
		list = append(list, fact{"job", value})
	}
	return list
}

// oneLine keeps foreign text, such as a run's message, from being more than that: a header,
// or a line of its own.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' }), " ")
}
