package alert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

// Message is what a delivery says: what templates of webhooks are about.
type Message struct {
	Key   string                `json:"key"` // the same each time that it is sent
	Event alerting.DeliveryKind `json:"event"`
	Title string                `json:"title"` // one line
	Text  string                `json:"text"`  // several
	Link  string                `json:"link,omitempty"`
	// Incident is what it is about, without its deliveries. Its sentences are in the language of
	// the channel, its codes and instants as ever.
	Incident *alerting.Incident `json:"incident"`

	facts []fact
	words *words
}

// fact is a line of a message.
type fact struct{ name, value string }

// shownJobs is how many jobs a message names.
const shownJobs = 10

// message makes the message of a delivery, in the language and zone of whom it is for.
func (s *sender) message(inc *alerting.Incident, d *alerting.Delivery, r alerting.Reader) *Message {
	m := &Message{Key: inc.Key(d), Event: d.Kind, words: wordsOf(r.Language), Incident: translated(inc, r)}
	m.Title, m.facts = m.words.title(m.Incident, d.Kind), m.words.facts(m.Incident, r)
	if inc.Report != nil {
		m.facts = nil // it has nothing to act on
	}
	if s.link != "" && d.Kind != alerting.Test {
		m.Link = strings.TrimSuffix(s.link, "/") + pathOf(inc)
	}
	lines := []string{}
	if inc.Report != nil {
		lines = append(lines, inc.Report.Text)
	}
	for _, f := range m.facts {
		lines = append(lines, f.name+m.words.colon+f.value)
	}
	if m.Link != "" {
		lines = append(lines, m.Link)
	}
	m.Text = strings.Join(lines, "\n")
	return m
}

// pathOf returns the page of the console where people act on an incident: that of a step which waits for their approval,
// that of a report, or else of the incident.
func pathOf(inc *alerting.Incident) string {
	if inc.Report != nil {
		return inc.Report.Path
	}
	if run, step := awaited(inc); run != "" {
		return "/runs/" + string(run) + "?step=" + step
	}
	return "/alerts/incidents/" + inc.ID
}

// translated returns an incident without its deliveries, whose sentences are for a reader.
func translated(inc *alerting.Incident, r alerting.Reader) *alerting.Incident {
	about := *inc
	about.Deliveries, about.Seen, about.Others = []alerting.Delivery{}, nil, nil
	about.Summary, about.Resolution = inc.SummaryIn(r), inc.ResolutionIn(r)
	about.Jobs = slices.Clone(inc.Jobs)
	for i := range about.Jobs {
		about.Jobs[i].Message = inc.Jobs[i].MessageIn(r)
	}
	return &about
}

// title tells what happened in one line.
func (w *words) title(inc *alerting.Incident, kind alerting.DeliveryKind) string {
	switch kind {
	case alerting.Recovery:
		if inc.ResolutionCode == "rule_gone" { // nobody knows whether it is well again
			return w.closedTitle + oneLine(inc.Summary)
		}
		return w.resolvedTitle + oneLine(inc.Summary)
	case alerting.Reminder:
		return w.openTitle + oneLine(inc.Summary)
	case alerting.Opened, alerting.Test, alerting.MonthReport:
	}
	return oneLine(inc.Summary)
}

func (w *words) facts(inc *alerting.Incident, r alerting.Reader) []fact {
	list := []fact{{w.incident, inc.ID}}
	if inc.Rule != "" {
		list = append(list, fact{w.rule, inc.Rule})
	}
	list = append(list, fact{w.severity, w.severities[inc.Severity]}, fact{w.since, r.Instant(inc.OpenedAt)})
	if !inc.ResolvedAt.IsZero() {
		list = append(list, fact{w.resolved, r.Instant(inc.ResolvedAt) + w.comma + inc.Resolution})
	}
	if inc.AcknowledgedBy != "" {
		list = append(list, fact{w.acknowledgedBy, inc.AcknowledgedBy})
	}
	if inc.Count > 1 {
		list = append(list, fact{w.times, strconv.Itoa(inc.Count)})
	}
	for i, a := range inc.Jobs {
		if i == shownJobs {
			list = append(list, fact{w.and, w.others(len(inc.Jobs) + inc.More - shownJobs)})
			break
		}
		value := string(a.Job) + " " + w.status(a.Status)
		if !a.Over {
			value += w.comma + w.run + string(a.RunID)
		}
		if a.Message != "" && !a.Over {
			value += w.colon + oneLine(a.Message)
		}
		list = append(list, fact{w.job, value})
	}
	return list
}

// oneLine keeps foreign text, such as a run's message, from being more than that: a header,
// or a line of its own.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\u2028' || c == '\u2029' }), " ")
}
