package ingest

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/logstore"
)

// The buckets whose records are facts keep the last version of each, so a feed may miss
// some in between, and never the last. What has gone from a bucket stays in the store.

var factDecoders = map[string]func(*batch, *message){
	bus.StreamAudit: decodeAudit, bus.StreamAlert: decodeIncident, bus.StreamLedger: decodeFinding,
}

// fact adds f, if a store can hold it. A message's instant is the version.
func (b *batch) fact(m *message, f *logstore.Fact) {
	f.Revision = max(m.at.UnixMicro(), 1)
	if err := f.Validate(); err != nil {
		b.refuse(err)
		return
	}
	b.facts = append(b.facts, *f)
	b.pressing = true
}

// says decodes what a message says, and reports whether it says something: a key that was
// deleted, or whose time was over, does not.
func (b *batch) says(m *message, into any) bool {
	if m.header.Get("KV-Operation") != "" || m.header.Get("Nats-Marker-Reason") != "" {
		return false
	}
	if err := json.Unmarshal(m.data, into); err != nil {
		b.refuse(&job.InvalidError{Reason: "is damaged: " + err.Error()})
		return false
	}
	return true
}

// The documents of package audit, and of package alert, as far as they are searched.
type (
	auditEntry struct {
		ID        string    `json:"id"`
		At        time.Time `json:"at"`
		User      string    `json:"user"`
		Operation string    `json:"operation"`
		Object    string    `json:"object"`
		Group     string    `json:"group"`
		Result    string    `json:"result"`
	}
	incident struct {
		ID             string            `json:"incident"`
		Rule           string            `json:"alert"`
		Subject        string            `json:"subject"`
		Group          string            `json:"executor_group"`
		State          string            `json:"state"`
		Summary        string            `json:"summary"`
		SummaryCode    string            `json:"summary_code"`
		SummaryParams  json.RawMessage   `json:"summary_params"`
		OpenedAt       time.Time         `json:"opened_at"`
		AcknowledgedBy string            `json:"acknowledged_by"`
		Deliveries     []json.RawMessage `json:"deliveries"`
	}
	delivery struct {
		ID      string    `json:"delivery"`
		Channel string    `json:"channel"`
		Kind    string    `json:"kind"`
		State   string    `json:"state"`
		MadeAt  time.Time `json:"made_at"`
		Node    string    `json:"node"`
	}
)

func decodeAudit(b *batch, m *message) {
	var e auditEntry
	if !b.says(m, &e) {
		return
	}
	b.fact(m, &logstore.Fact{
		Kind: logstore.FactAudit, ID: e.ID, At: e.At, Group: e.Group, Who: e.User, What: e.Operation, Object: e.Object, State: e.Result, Doc: m.data,
	})
}

// decodeIncident takes an incident and each of the messages about it, which it holds: it
// forgets old ones, and the store does not.
func decodeIncident(b *batch, m *message) {
	var inc incident
	if !b.says(m, &inc) {
		return
	}
	b.fact(m, &logstore.Fact{
		Kind: logstore.FactIncident, ID: inc.ID, At: inc.OpenedAt, Group: inc.Group, Who: inc.AcknowledgedBy, What: inc.Rule, Object: inc.Subject, State: inc.State, Doc: m.data,
	})
	for _, raw := range inc.Deliveries {
		var d delivery
		if err := json.Unmarshal(raw, &d); err != nil {
			b.refuse(&job.InvalidError{Field: "deliveries", Reason: err.Error()})
			continue
		}
		about := map[string]any{"incident": inc.ID, "alert": inc.Rule, "summary": inc.Summary, "delivery": raw}
		if inc.SummaryCode != "" {
			about["summary_code"] = inc.SummaryCode
		}
		if len(inc.SummaryParams) > 0 {
			about["summary_params"] = inc.SummaryParams
		}
		doc, err := json.Marshal(about)
		if err != nil {
			b.refuse(err)
			continue
		}
		number, _ := strconv.Atoi(d.ID)
		b.fact(m, &logstore.Fact{
			Kind: logstore.FactDelivery, ID: inc.ID + "-" + pad(number), At: d.MadeAt, Group: inc.Group, Who: d.Node, What: d.Kind, Object: d.Channel, State: d.State, Doc: doc,
		})
	}
}

// pad writes the number of a delivery so that those of one instant are in order.
func pad(n int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(6-len(s), 0)) + s
}

func decodeFinding(b *batch, m *message) {
	var f outcome.Finding
	if !b.says(m, &f) {
		return
	}
	b.fact(m, &logstore.Fact{
		Kind: logstore.FactDiscrepancy, ID: string(f.RunID), At: f.FireTime, Group: f.Job.Group(), What: string(f.Job), Object: string(f.Job), Doc: m.data,
	})
}
