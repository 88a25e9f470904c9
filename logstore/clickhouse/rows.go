package clickhouse

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"carillon/logstore"
)

// key is an attempt. Its first part orders it in time.
type key struct {
	fire    int64 // milliseconds
	id      uuid.UUID
	attempt uint32
}

func keyOf(u *logstore.Update) key {
	return key{fire: fireMillis(u.RunID), id: packID(u.RunID), attempt: toUint32(u.Attempt)}
}

// identity are the columns that runs and run_events have in common.
type identity struct {
	runID     []uuid.UUID
	attempt   []uint32
	group     []string
	job       []string
	version   []uint32
	cause     []int8
	fireTime  []int64
	status    []int8
	committed []int64
	started   []int64
	instance  []string
	delivery  []uint32
	madeBy    []string
}

func (c *identity) grow(n int) {
	c.runID, c.attempt, c.group, c.job = slices.Grow(c.runID, n), slices.Grow(c.attempt, n), slices.Grow(c.group, n), slices.Grow(c.job, n)
	c.version, c.cause, c.fireTime, c.status = slices.Grow(c.version, n), slices.Grow(c.cause, n), slices.Grow(c.fireTime, n), slices.Grow(c.status, n)
	c.committed, c.started = slices.Grow(c.committed, n), slices.Grow(c.started, n)
	c.instance, c.delivery, c.madeBy = slices.Grow(c.instance, n), slices.Grow(c.delivery, n), slices.Grow(c.madeBy, n)
}

func (c *identity) add(k key, u *logstore.Update, status int8) {
	c.runID = append(c.runID, k.id)
	c.attempt = append(c.attempt, k.attempt)
	c.group = append(c.group, u.Job.Group())
	c.job = append(c.job, string(u.Job))
	c.version = append(c.version, toUint32(u.Version))
	c.cause = append(c.cause, causeCodes[u.Cause])
	c.fireTime = append(c.fireTime, k.fire)
	c.status = append(c.status, status)
	c.committed = append(c.committed, committedAt(u))
	if u.Kind == logstore.KindRecorded {
		c.started, c.instance, c.delivery = append(c.started, 0), append(c.instance, ""), append(c.delivery, 0)
		c.madeBy = append(c.madeBy, u.By)
	} else {
		c.started, c.instance, c.delivery = append(c.started, millis(u.StartedAt)), append(c.instance, u.Instance), append(c.delivery, toUint32(u.Delivery))
		c.madeBy = append(c.madeBy, "")
	}
}

func (c *identity) columns() []column {
	return []column{
		{"run_id", c.runID},
		{"attempt", c.attempt},
		{"group", c.group},
		{"job", c.job},
		{"version", c.version},
		{"cause", c.cause},
		{"fire_time", c.fireTime},
		{"status", c.status},
		{"committed_at", c.committed},
		{"started_at", c.started},
		{"instance", c.instance},
		{"delivery", c.delivery},
		{"made_by", c.madeBy},
	}
}

// ends are rows of the table runs.
type ends struct {
	identity
	keys       []key
	finished   []int64
	exitCode   []*int32
	message    []string
	reason     []string
	result     []string
	logLines   []uint32
	count      []uint64
	until      []int64
	batch      []string
	precedence []int64
}

func (e *ends) add(k key, u *logstore.Update, token string, precedence int64) {
	e.identity.add(k, u, statusCodes[u.Status])
	e.keys = append(e.keys, k)
	var exit *int32
	var message, result, reason string
	var lines uint32
	count, until := uint64(1), int64(0)
	if u.Kind == logstore.KindRecorded {
		reason, count, until = u.Reason, uint64(max(u.Count, 1)), millis(u.Until)
	} else {
		message, result, lines = u.Message, string(u.Result), toUint32(u.LogLines)
		if u.ExitCode != nil {
			code := int32(*u.ExitCode) //nolint:gosec // exit codes are small
			exit = &code
		}
	}
	e.finished = append(e.finished, endedAt(u))
	e.exitCode = append(e.exitCode, exit)
	e.message = append(e.message, message)
	e.reason = append(e.reason, reason)
	e.result = append(e.result, result)
	e.logLines = append(e.logLines, lines)
	e.count = append(e.count, count)
	e.until = append(e.until, until)
	e.batch = append(e.batch, token)
	e.precedence = append(e.precedence, precedence)
}

func (e *ends) columns() []column {
	return append(e.identity.columns(),
		column{"finished_at", e.finished},
		column{"exit_code", e.exitCode},
		column{"message", e.message},
		column{"reason", e.reason},
		column{"result", e.result},
		column{"log_lines", e.logLines},
		column{"count", e.count},
		column{"until", e.until},
		column{"batch", e.batch},
		column{"precedence", e.precedence})
}

// events are rows of the table run_events.
type events struct {
	identity
	kind       []int8
	slot       []int64
	at         []int64
	percent    []float64
	detail     []string
	precedence []int64
}

func (e *events) add(k key, u *logstore.Update, kind logstore.Kind, precedence int64) {
	status := statusAfter(u)
	e.identity.add(k, u, status)
	at, slot, percent, detail := millis(u.At), int64(0), 0.0, ""
	switch kind {
	case logstore.KindRecorded:
		slot, detail = int64(status), u.Reason
	case logstore.KindHeld:
		slot, detail = int64(u.Delivery), u.Reason
	case logstore.KindStarted:
		slot, detail = int64(u.Delivery), u.Reason
		if !u.StartedAt.IsZero() {
			at = millis(u.StartedAt)
		}
	case logstore.KindProgress:
		// Of the progress within a step the newest counts, else what was written first.
		slot, percent, detail, precedence = at/progressStep.Milliseconds(), u.Progress, u.ProgressText, at
	case logstore.KindLate:
		if ended := endedAt(u); ended != 0 {
			at = ended
		}
		slot, detail = at<<5|int64(status), u.Message // two ends of one instant differ in their status
	case logstore.KindFinished: // is a row of runs
	}
	e.kind = append(e.kind, kindCodes[kind])
	e.slot = append(e.slot, slot)
	e.at = append(e.at, at)
	e.percent = append(e.percent, percent)
	e.detail = append(e.detail, detail)
	e.precedence = append(e.precedence, precedence)
}

func (e *events) columns() []column {
	return append(e.identity.columns(),
		column{"kind", e.kind},
		column{"slot", e.slot},
		column{"at", e.at},
		column{"percent", e.percent},
		column{"detail", e.detail},
		column{"precedence", e.precedence})
}

// closed are rows of run_open that say that an attempt has ended.
type closed struct {
	runID    []uuid.UUID
	attempt  []uint32
	group    []string
	job      []string
	version  []uint32
	cause    []int8
	fireTime []int64
	status   []int8
	endedAt  []time.Time
}

func (c *closed) columns() []column {
	return []column{
		{"run_id", c.runID},
		{"attempt", c.attempt},
		{"group", c.group},
		{"job", c.job},
		{"version", c.version},
		{"cause", c.cause},
		{"fire_time", c.fireTime},
		{"status", c.status},
		{"ended_at", c.endedAt},
	}
}
