package alert

import (
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// The first parts of the keys of incidents: of the last one of each subject of a rule, by the hash of both;
// and of those before it, and of tests, by id.
const (
	keyIncident = "incident."
	keyPast     = "past."
)

// The kinds of record in the bucket ALERT.
var (
	kindRule     = kindOf[Entry[alerting.Rule]]("rule.", "alert ")
	kindChannel  = kindOf[Entry[alerting.Channel]]("channel.", "channel ")
	kindSilence  = kindOf[alerting.Silence]("silence.", "silence ")
	kindIncident = kindOf[alerting.Incident](keyIncident, "alert record incident.")
	kindPast     = kindOf[alerting.Incident](keyPast, "incident ")
	kindTally    = kindOf[tally]("tally.", "alert record tally.")
	kindPosition = kindOf[position](cluster.KeyAlertPosition, "alert record position") // its field events is read by [cluster.Conn.EventsAlerted]
	kindSeeded   = kindOf[seeded]("seeded", "alert record seeded")
)

// theOnly is the key of the record of a kind that has one.
const theOnly = ""

func kindOf[T any](prefix, name string) *jet.Kind[T] {
	return &jet.Kind[T]{Bucket: bus.BucketAlert, Prefix: prefix, Name: func(key string) string { return name + key }}
}

// records are those of all kinds.
type records struct {
	rules     jet.Records[Entry[alerting.Rule]]
	channels  jet.Records[Entry[alerting.Channel]]
	silences  jet.Records[alerting.Silence]
	incidents jet.Records[alerting.Incident]
	past      jet.Records[alerting.Incident]
	tallies   jet.Records[tally]
	position  jet.Records[position]
	seeded    jet.Records[seeded]
}

func recordsOn(conn *jet.Conn) records {
	return records{
		kindRule.On(conn), kindChannel.On(conn), kindSilence.On(conn), kindIncident.On(conn), kindPast.On(conn),
		kindTally.On(conn), kindPosition.On(conn), kindSeeded.On(conn),
	}
}

// ofIncident returns the records that have the incident at a key of the bucket, and its key among them.
func (r *records) ofIncident(key string) (jet.Records[alerting.Incident], string) {
	if id, past := strings.CutPrefix(key, keyPast); past {
		return r.past, id
	}
	return r.incidents, strings.TrimPrefix(key, keyIncident)
}
