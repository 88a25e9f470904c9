package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// How far the times of an event may be from what is possible. Clocks differ, and a run
// may be begun early by a server whose clock is ahead, so what is nearer is believed.
const (
	maxAhead  = time.Minute // of when the stream stored the event
	maxBefore = time.Hour   // of the fire time
)

// maxInstance bounds the name of an instance in bytes.
const maxInstance = 256

// salvage reads as much of a damaged finished event as can be read, and says what cannot.
// It returns nil if the event does not show which attempt, or which piece, it belongs to.
// Fields that the subject or the run's id also has need not be readable.
func salvage(data []byte) (*Event, error) {
	var fields map[string]json.RawMessage
	whole := withoutNaN(data)
	if err := json.Unmarshal(whole, &fields); err != nil {
		return nil, err
	}
	var wrong error
	if len(whole) != len(data) {
		wrong = job.Invalid("", "it has NaN or Infinity, for which JSON has no form")
	}
	e := &Event{}
	for _, f := range []struct {
		name string
		into any
		must bool // or nobody knows what it is about
	}{
		{"kind", &e.Kind, true},
		{"run_id", &e.RunID, true},
		{"job", &e.Job, true},
		{"attempt", &e.Attempt, true},
		{"broadcast_index", &e.Index, true},
		{"broadcast_total", &e.Total, true},
		{"status", &e.Status, false},
		{"started_at", &e.StartedAt, false},
		{"finished_at", &e.FinishedAt, false},
		{"exit_code", &e.ExitCode, false},
		{"message", &e.Message, false},
		{"result", &e.Result, false},
		{"retry", &e.Retry, false},
		{"final", &e.Final, false},
		{"retry_after", &e.RetryAfter, false},
		{"log_lines", &e.LogLines, false},
		{"log_open", &e.LogOpen, false},
		{"instance", &e.Instance, false},
		{"delivery", &e.Delivery, false},
		{"at", &e.At, false},
		{"delivered_at", &e.DeliveredAt, false},
		{"version", &e.Version, false},
		{"cause", &e.Cause, false},
		{"committed_at", &e.CommittedAt, false},
	} {
		raw, ok := fields[f.name]
		if !ok {
			continue
		}
		err := json.Unmarshal(raw, f.into)
		switch {
		case err != nil && f.must:
			return nil, err
		case err != nil && wrong == nil:
			wrong = job.Invalid(f.name, "%s is not understood", cutText(string(raw), 64))
		}
	}
	if e.Kind != EventFinished {
		return nil, wrong
	}
	return e, wrong
}

// withoutNaN replaces the numbers that are none in JSON, and that many encoders write all
// the same, by null. Strings are left as they are.
func withoutNaN(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for inText := false; len(data) > 0; {
		switch {
		case inText && data[0] == '\\' && len(data) > 1:
			out, data = append(out, data[:2]...), data[2:]
			continue
		case data[0] == '"':
			inText = !inText
		case !inText:
			i := slices.IndexFunc(notNumbers, func(word string) bool { return strings.HasPrefix(string(data[:min(len(data), len(word))]), word) })
			if i >= 0 {
				out, data = append(out, "null"...), data[len(notNumbers[i]):]
				continue
			}
		}
		out, data = append(out, data[0]), data[1:]
	}
	return out
}

var notNumbers = []string{"NaN", "-Infinity", "Infinity"}

// source is the subject on which an event arrived, with the group and the shards that it stands for.
type source struct {
	subject string
	group   string
	has     func(shard int) bool
}

// attribute checks that an event from there may be about the attempt that it says. What the subject and
// the run's id tell need not be said again: it is theirs.
func (e *Event) attribute(from source, shards int) error {
	if _, err := job.ParseRunID(string(e.RunID)); err != nil {
		return err
	}
	if _, err := job.ParseName(string(e.Job)); err != nil {
		return err
	}
	e.FireTime, e.Shard = e.RunID.Time(), e.Job.Shard(shards)
	fires := e.Cause.Scheduled()
	switch {
	case e.Job.Group() != from.group:
		return job.Invalid("job", "%q is not of group %q", e.Job, from.group)
	case !from.has(e.Shard):
		return job.Invalid("shard", "%d does not fit %s", e.Shard, from.subject)
	case e.Attempt < 1 || e.Attempt > math.MaxInt32:
		return job.Invalid("attempt", "must be 1 or more")
	case fires && job.FireRunID(e.Job, e.FireTime.UnixMilli(), job.CauseSchedule) != e.RunID:
		return job.Invalid("run_id", "%s is not of a fire of job %q at %s", e.RunID, e.Job, e.FireTime.Format(time.RFC3339Nano))
	}
	return e.check()
}

// wrong returns what cannot be in an event, apart from its times and the length of its
// texts.
func (e *Event) wrong() error {
	switch {
	case e.Kind == EventFinished && !e.Status.Executed() && e.Status != job.StatusMissed: // missed is what was to begin by an instant and could not
		return job.Invalid("status", "%q must be succeeded, failed, timed_out, cancelled, lost or missed", e.Status)
	case !slices.Contains(job.Causes, e.Cause):
		return job.Invalid("cause", "%q must be one of %v", e.Cause, job.Causes)
	case len(e.Instance) > maxInstance:
		return job.Invalid("instance", "is longer than %d bytes", maxInstance)
	case e.Version < 0 || e.Delivery < 0 || e.LogLines < 0:
		return job.Invalid("version/delivery/log_lines", "must not be negative")
	}
	return nil
}

// fail makes of a finished event in which something is wrong the end that it is: the
// attempt is over, and nobody knows how.
func (e *Event) fail(wrong error) {
	why := wrong.Error()
	if p, ok := errors.AsType[*job.InvalidError](wrong); ok {
		why = strings.TrimSpace(p.Field + " " + p.Reason)
	}
	e.Message = strings.TrimSpace(fmt.Sprintf("the executor's report of the end is not valid: %s. %s", why, e.Message))
	e.Status, e.Result, e.Retry, e.ExitCode = job.StatusFailed, nil, false, nil
	e.Version, e.Delivery, e.LogLines = max(e.Version, 0), max(e.Delivery, 0), max(e.LogLines, 0)
	e.Instance = cutText(e.Instance, maxInstance)
	if !slices.Contains(job.Causes, e.Cause) {
		e.Cause = job.CauseAPI
		if job.FireRunID(e.Job, e.FireTime.UnixMilli(), job.CauseSchedule) == e.RunID {
			e.Cause = job.CauseSchedule
		}
	}
}

// correct makes times and lengths possible, and says what it has changed. stored is when
// the stream took the event.
func (e *Event) correct(stored time.Time) {
	var notes []string
	if e.Kind == EventFinished {
		if e.FinishedAt.IsZero() {
			e.FinishedAt = e.At
		}
		if e.FinishedAt.IsZero() {
			e.FinishedAt = stored
		}
	}
	if note := e.move(stored); note != "" {
		notes = append(notes, note)
	}
	first := e.FireTime.Add(-maxBefore)
	for _, t := range []struct {
		name string
		at   *time.Time
	}{{"at", &e.At}, {"committed_at", &e.CommittedAt}, {"delivered_at", &e.DeliveredAt}, {"started_at", &e.StartedAt}, {"finished_at", &e.FinishedAt}} {
		was := *t.at
		switch {
		case was.IsZero() && t.name == "at":
			*t.at = stored
		case was.IsZero():
		case was.After(stored.Add(maxAhead)):
			*t.at = stored
			notes = append(notes, fmt.Sprintf("%s %s is after the event was stored, and taken as %s", t.name, instantText(was), instantText(stored)))
		case was.Before(first):
			*t.at = e.FireTime
			notes = append(notes, fmt.Sprintf("%s %s is long before the fire, and taken as %s", t.name, instantText(was), instantText(e.FireTime)))
		}
	}
	if e.Kind == EventFinished && e.FinishedAt.Before(e.StartedAt) {
		notes = append(notes, fmt.Sprintf("finished_at %s is before started_at %s, and taken as that", instantText(e.FinishedAt), instantText(e.StartedAt)))
		e.FinishedAt = e.StartedAt
	}
	if e.DeliveredAt.After(e.StartedAt) {
		e.DeliveredAt = e.StartedAt // nothing is known of the time between
	}
	if after := min(max(e.RetryAfter, 0), job.Duration(job.MaxRetryDelay)); after != e.RetryAfter {
		notes = append(notes, fmt.Sprintf("retry_after %s is not between 0 and %s, and taken as %s", e.RetryAfter, job.Duration(job.MaxRetryDelay), after))
		e.RetryAfter = after
	}
	e.Text, e.RouteReason = cutText(e.Text, MaxMessage), cutText(e.RouteReason, MaxMessage)
	if result, note := CutResult(e.Result); note != "" {
		e.Result, notes = result, append(notes, note)
	}
	switch note := strings.Join(notes, "; "); {
	case note == "":
		e.Message = cutText(e.Message, MaxMessage)
	case e.Kind == EventFinished: // what was changed is said before all else, so that it is not cut
		e.Message = cutText(strings.TrimSpace("corrected: "+note+". "+e.Message), MaxMessage)
	case e.Kind == EventStarted:
		e.RouteReason = cutText(strings.TrimSpace("corrected: "+note+". "+e.RouteReason), MaxMessage)
	}
}

// move corrects the times of an executor whose clock is wrong: all of them by the same distance, so that
// what lies between them stays true. A clock is ahead if a time is after the event was stored, and behind
// if one is before the trigger was committed. What cannot be explained so is left as it is.
func (e *Event) move(stored time.Time) (note string) {
	committed := e.CommittedAt
	if committed.IsZero() || committed.After(stored.Add(maxAhead)) || committed.Before(e.FireTime.Add(-maxBefore)) {
		return ""
	}
	var first, last time.Time
	own := []*time.Time{&e.At, &e.DeliveredAt, &e.StartedAt, &e.FinishedAt}
	for _, t := range own {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = *t
		}
		if t.After(last) {
			last = *t
		}
	}
	by, which := time.Duration(0), "ahead"
	switch {
	case first.IsZero() || last.Sub(first) > stored.Sub(committed)+maxAhead: // no attempt takes so long
	case last.After(stored.Add(maxAhead)):
		by = stored.Sub(last)
	case first.Before(committed.Add(-maxAhead)):
		by, which = min(committed.Sub(first), stored.Sub(last)), "behind"
	}
	if by == 0 {
		return ""
	}
	for _, t := range own {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	return fmt.Sprintf("the executor's clock was about %s %s, and its times are moved by that", job.Duration(by.Abs().Round(time.Second)), which)
}

func instantText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// cutText returns text, or as much of it as max bytes hold, with a mark at its end.
func cutText(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// CutResult returns a result as events carry it: one that is longer than [MaxResult] as an
// object with its length and its beginning, so that nobody takes a part for the whole; and
// a note that says so. A result that is not too long is returned as it is, without a note.
func CutResult(result json.RawMessage) (kept json.RawMessage, note string) {
	if len(result) <= MaxResult {
		return result, ""
	}
	const beginning = 8 << 10 // takes at most six times as much as JSON
	kept, _ = json.Marshal(struct {
		Cut   bool   `json:"cut"`
		Bytes int    `json:"bytes"`
		Start string `json:"start"`
	}{true, len(result), cutText(string(result), beginning)}) // a struct of these always has a form
	return kept, reason.Join(reason.ResultCut.With(len(result), MaxResult), reason.StoreElsewhere.String())
}
