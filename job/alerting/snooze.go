package alerting

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// MaxSnooze is how long an incident may be snoozed.
const MaxSnooze = 30 * 24 * time.Hour

// CheckSnooze returns an *job.InvalidError unless an incident may be snoozed for so long.
// Zero ends a snooze.
func CheckSnooze(lasts time.Duration) error {
	if lasts != 0 && (lasts < time.Second || lasts > MaxSnooze) {
		return job.Invalid("for", "%s must be between 1s and %s, or 0s to end the snooze", job.Duration(lasts), job.Duration(MaxSnooze))
	}
	return nil
}

// IsSnoozed reports whether the incident is not to be heard of at an instant.
func (inc *Incident) IsSnoozed(now time.Time) bool {
	return inc.State == Open && inc.SnoozedUntil.After(now)
}

// Snooze holds back the notifications of the incident until an instant. Then the channels
// that were notified of it get a reminder, unless it is resolved or acknowledged.
func (inc *Incident) Snooze(by, note string, at, until time.Time) {
	inc.SnoozedUntil, inc.SnoozedBy = until, by
	if note != "" {
		inc.Note = note
	}
	why := Say("snoozed_by", "by", by)
	waiting, told := map[string]bool{}, []string{}
	for i := range inc.Deliveries {
		d := &inc.Deliveries[i]
		if d.State == Waiting {
			waiting[d.Channel] = true
		}
		if d.State == Waiting && d.Claim == 0 && d.Kind != Recovery {
			d.NextAt = until
			d.Because(why)
		}
		if d.State == Sent && !slices.Contains(told, d.Channel) {
			told = append(told, d.Channel)
		}
	}
	for _, channel := range told {
		if !waiting[channel] && inc.AcknowledgedAt.IsZero() {
			inc.Plan(channel, Reminder, at, until)
			inc.Deliveries[len(inc.Deliveries)-1].Because(why)
		}
	}
}

// Wake ends a snooze before its time: who has not heard of the incident hears of it now.
func (inc *Incident) Wake(at time.Time) {
	inc.SnoozedUntil, inc.SnoozedBy = time.Time{}, ""
	for i := range inc.Deliveries {
		d := &inc.Deliveries[i]
		switch {
		case d.State != Waiting || d.Claim != 0 || d.Kind == Recovery:
		case d.Kind == Reminder:
			d.Drop(Say("snooze_ended"))
		case d.NextAt.After(at):
			d.NextAt = at
			d.Because(Sentence{})
		}
	}
}
