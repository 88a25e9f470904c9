package alerting

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Incident is what a rule has found, from when it began until it is over.
type Incident struct {
	ID       string   `json:"incident"`
	Rule     string   `json:"alert"` // empty: it is a test of a channel, or a report
	Subject  string   `json:"subject"`
	Group    string   `json:"executor_group,omitempty"` // that it concerns; empty: several, or the cluster
	Severity Severity `json:"severity"`
	State    State    `json:"state"`
	// Summary says what it is about in English, and its code and parameters in any language.
	Summary       string `json:"summary"`
	SummaryCode   Code   `json:"summary_code,omitempty"`
	SummaryParams Params `json:"summary_params,omitempty"`
	// SummaryReason is the parameter reason with its code. Only Explained has it.
	SummaryReason reason.Text `json:"summary_reason,omitempty"`
	// Jobs are the jobs concerned, at most [maxAffected] of them; More are others, each counted once
	// up to [maxOthers].
	Jobs  []Affected `json:"jobs,omitempty"`
	More  int        `json:"more,omitempty"`
	Count int        `json:"count"` // of what it has taken in: bad runs

	OpenedAt   time.Time `json:"opened_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
	// Resolution says why it is over, as Summary does what it is about.
	Resolution       string `json:"resolution,omitempty"`
	ResolutionCode   Code   `json:"resolution_code,omitempty"`
	ResolutionParams Params `json:"resolution_params,omitempty"`

	AcknowledgedAt time.Time `json:"acknowledged_at,omitzero"`
	AcknowledgedBy string    `json:"acknowledged_by,omitempty"`
	SnoozedUntil   time.Time `json:"snoozed_until,omitzero"`
	SnoozedBy      string    `json:"snoozed_by,omitempty"`
	Note           string    `json:"note,omitempty"`

	Deliveries []Delivery `json:"deliveries"`
	// Dropped counts deliveries that were forgotten to keep the list short.
	Dropped int `json:"deliveries_dropped,omitempty"`

	// Report is set on an incident that is a report.
	Report *Report `json:"report,omitempty"`

	// Others are hashes of the names of the jobs that More counts.
	Others []uint32 `json:"others,omitempty"`
	// Seen are the last messages that were taken in, by source.
	Seen map[Source]uint64 `json:"seen,omitempty"`
	// Silent says that no recovery is told, Repeat how often the message comes again: as the
	// rule had it when the incident opened.
	Silent bool         `json:"no_recovery,omitempty"`
	Repeat job.Duration `json:"repeat,omitempty"`
}

// State says whether an incident is over.
type State string

// The states of an incident.
const (
	Open     State = "open"
	Resolved State = "resolved"
)

// Affected is a job that an incident is about, and the last that was bad of it.
type Affected struct {
	Job    job.Name   `json:"job"`
	RunID  job.RunID  `json:"run_id,omitempty"`
	Status job.Status `json:"status,omitempty"`
	// Message is the run's own, without a code, or says what was found.
	Message       string `json:"message,omitempty"`
	MessageCode   Code   `json:"message_code,omitempty"`
	MessageParams Params `json:"message_params,omitempty"`
	// MessageReason is the parameter reason with its code, or what the run says. Only Explained has it.
	MessageReason reason.Text `json:"message_reason,omitempty"`
	At            time.Time   `json:"at"`
	Count         int         `json:"count"`
	Over          bool        `json:"over,omitempty"` // it has run well since
}

// Delivery is one message of an incident to one channel.
type Delivery struct {
	ID           string        `json:"delivery"` // within the incident
	Channel      string        `json:"channel"`
	Kind         DeliveryKind  `json:"kind"`
	State        DeliveryState `json:"state"`
	Attempts     int           `json:"attempts"`
	NextAt       time.Time     `json:"next_at,omitzero"` // not before
	Reason       string        `json:"reason,omitempty"` // why it waits, or was dropped, or what went wrong
	ReasonCode   Code          `json:"reason_code,omitempty"`
	ReasonParams Params        `json:"reason_params,omitempty"`
	MadeAt       time.Time     `json:"made_at"`
	TriedAt      time.Time     `json:"tried_at,omitzero"` // when the last attempt ended
	SentAt       time.Time     `json:"sent_at,omitzero"`
	Node         string        `json:"node,omitempty"` // that tried last
	Answer       *Answer       `json:"answer,omitempty"`
	Claim        uint64        `json:"claim,omitempty"` // the epoch of the alerter that is sending it
}

// Answer is what the other side said to the last attempt of a delivery.
type Answer struct {
	Status string       `json:"status,omitempty"` // as HTTP has it: "200 OK"; empty where nothing answered, or a mail server did
	Body   string       `json:"body,omitempty"`   // its beginning, without the channel's secrets
	Took   job.Duration `json:"took"`             // the whole attempt
}

// DeliveryKind says what a message tells.
type DeliveryKind string

// The kinds of delivery.
const (
	Opened   DeliveryKind = "opened"
	Reminder DeliveryKind = "reminder"
	Recovery DeliveryKind = "recovered"
	Test     DeliveryKind = "test"
	// MonthReport is about a month, and not about an incident.
	MonthReport DeliveryKind = "month_report"
)

// DeliveryState says how far a delivery is.
type DeliveryState string

// The states of a delivery.
const (
	Waiting DeliveryState = "waiting"
	Sent    DeliveryState = "sent"
	Failed  DeliveryState = "failed"  // tried for a day
	Dropped DeliveryState = "dropped" // nobody needs it any more
)

// Bounds of an incident.
const (
	maxAffected   = 50
	maxOthers     = 1000
	maxDeliveries = 100
	MaxMessage    = 1000 // bytes of a run's message
)

// Finding is something bad that a rule has found.
type Finding struct {
	Rule    *Rule
	Subject string
	Group   string
	Summary Sentence
	At      time.Time
	Source  Source
	Seq     uint64
	Job     Affected // without a job: the finding is not about one
	// Row is how many bad runs in a row the last one ends, of a rule that counts them; else 0.
	Row int
	// Jobs are all jobs that a state of things concerns, instead of Job and Summary; or with More
	// some of them.
	Jobs []Affected
	More bool
}

// NewIncident returns the incident that begins with a finding.
func NewIncident(f *Finding) *Incident {
	inc := &Incident{
		ID: NewID(f.At, f.Rule.Alert, f.Subject, string(f.Source), strconv.FormatUint(f.Seq, 10)), Rule: f.Rule.Alert, Subject: f.Subject, Group: f.Group,
		Severity: f.Rule.Severity, State: Open, OpenedAt: f.At, Silent: f.Rule.NoRecovery, Repeat: f.Rule.Repeat,
	}
	for _, c := range f.Rule.Channels {
		inc.Plan(c, Opened, f.At, f.At.Add(f.Rule.Wait.Std()))
	}
	inc.Add(f)
	return inc
}

// Add adds a finding to an incident that is open. It reports whether that was news.
func (inc *Incident) Add(f *Finding) bool {
	if len(f.Jobs) > 0 {
		return inc.concern(f)
	}
	if f.Seq != 0 && inc.Seen[f.Source] >= f.Seq {
		return false
	}
	if f.Seq != 0 {
		inc.MarkSeen(f.Source, f.Seq)
	}
	inc.UpdatedAt = f.At
	defer func() { inc.summarize(f.Summary) }()
	i := slices.IndexFunc(inc.Jobs, func(a Affected) bool { return a.Job == f.Job.Job })
	n := 1
	if i < 0 || inc.Jobs[i].Over { // the whole row is new
		n = max(f.Row, 1)
	}
	inc.Count += n
	switch {
	case f.Job.Job == "":
	case i >= 0:
		f.Job.Count = inc.Jobs[i].Count + n
		inc.Jobs[i] = f.Job
	case len(inc.Jobs) < maxAffected:
		f.Job.Count = n
		inc.Jobs = append(inc.Jobs, f.Job)
	default:
		inc.other(f.Job.Job)
	}
	return true
}

// other counts a job that the list has no place for.
func (inc *Incident) other(name job.Name) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	if sum := h.Sum32(); len(inc.Others) < maxOthers && !slices.Contains(inc.Others, sum) {
		inc.Others = append(inc.Others, sum)
		inc.More++
	}
}

// Turn replaces what is bad of a job's run by how the run ended, which is bad, too. The run counts
// once.
func (inc *Incident) Turn(f *Finding) {
	inc.MarkSeen(f.Source, f.Seq)
	for i := range inc.Jobs {
		if a := &inc.Jobs[i]; a.Job == f.Job.Job && a.RunID == f.Job.RunID {
			f.Job.Count = a.Count
			*a = f.Job
			inc.UpdatedAt = f.At
			inc.summarize(f.Summary)
		}
	}
}

// Restate replaces the summary of a state of things that is still the same one. It reports whether
// that was news.
func (inc *Incident) Restate(summary Sentence, at time.Time) bool {
	if inc.SummaryCode == summary.Code && maps.Equal(inc.SummaryParams, summary.Params) {
		return false
	}
	inc.UpdatedAt = at
	inc.summarize(summary)
	return true
}

// concern has the incident be about the jobs of a finding. Listed jobs that are not among them go,
// and others take their places. That is news if it changes the list, what is bad of a listed job, or
// how many there are.
func (inc *Incident) concern(f *Finding) bool {
	found, listed := map[job.Name]*Affected{}, map[job.Name]bool{}
	for i := range f.Jobs {
		found[f.Jobs[i].Job] = &f.Jobs[i]
	}
	n, news := len(found), false
	var jobs []Affected
	for _, a := range inc.Jobs {
		switch now := found[a.Job]; {
		case now != nil:
			if a.Message != now.Message {
				news = true
				a.Message, a.MessageCode, a.MessageParams, a.At = now.Message, now.MessageCode, now.MessageParams, now.At
			}
		case f.More:
			n++
		default:
			continue
		}
		jobs, listed[a.Job] = append(jobs, a), true
	}
	kept := len(jobs)
	for _, a := range f.Jobs {
		if len(jobs) < maxAffected && !listed[a.Job] {
			a.Count = 1
			jobs, listed[a.Job] = append(jobs, a), true
		}
	}
	more := n - len(jobs)
	if f.More {
		more = max(more, inc.More)
	}
	if !news && kept == len(inc.Jobs) && kept == len(jobs) && more == inc.More {
		return false
	}
	inc.Count += max(len(jobs)+more-kept-inc.More, 0)
	inc.Jobs, inc.More, inc.UpdatedAt = jobs, more, f.At
	inc.summarize(Sentence{jobs[0].MessageCode, jobs[0].MessageParams})
	return true
}

// summarize sets the summary: what was found last, or what is listed first, and how many other jobs
// there are.
func (inc *Incident) summarize(s Sentence) {
	if n := len(inc.Jobs) + inc.More; n > 1 {
		params := Params{}
		maps.Copy(params, s.Params)
		s.Params = params
		s.Params["others"] = strconv.Itoa(n - 1)
	}
	inc.Summary, inc.SummaryCode, inc.SummaryParams = s.English(), s.Code, s.Params
}

// SummaryIn returns what the incident is about in a reader's language.
func (inc *Incident) SummaryIn(r Reader) string {
	return Sentence{inc.SummaryCode, inc.SummaryParams}.Or(inc.Summary, r)
}

// ResolutionIn returns why the incident is over in a reader's language.
func (inc *Incident) ResolutionIn(r Reader) string {
	return Sentence{inc.ResolutionCode, inc.ResolutionParams}.Or(inc.Resolution, r)
}

// Say sets what was bad.
func (a *Affected) Say(s Sentence) {
	a.Message, a.MessageCode, a.MessageParams = s.English(), s.Code, s.Params
}

// MessageIn returns what was bad in a reader's language. What a handler said stays as it is.
func (a *Affected) MessageIn(r Reader) string {
	if a.MessageCode == "" {
		return r.Reason(a.Message)
	}
	return Sentence{a.MessageCode, a.MessageParams}.Or(a.Message, r)
}

// Explained returns the incident with the codes of the reasons in it.
func (inc *Incident) Explained() Incident {
	e := *inc
	e.SummaryReason = inc.SummaryParams.Reason()
	e.Jobs = slices.Clone(inc.Jobs)
	for i := range e.Jobs {
		a := &e.Jobs[i]
		a.MessageReason = a.MessageParams.Reason()
		if a.MessageCode == "" {
			a.MessageReason = reason.Text(a.Message)
		}
	}
	return e
}

// MarkSeen remembers the last message that was taken in of a source.
func (inc *Incident) MarkSeen(s Source, seq uint64) {
	if inc.Seen == nil {
		inc.Seen = map[Source]uint64{}
	}
	inc.Seen[s] = seq
}

// End ends the incident. What has not been sent is dropped, and who has heard that it
// began hears that it is over.
func (inc *Incident) End(at time.Time, why Sentence) {
	if inc.State == Resolved {
		return
	}
	inc.State, inc.ResolvedAt, inc.UpdatedAt = Resolved, at, at
	inc.Resolution, inc.ResolutionCode, inc.ResolutionParams = why.English(), why.Code, why.Params
	told := []string{}
	for i := range inc.Deliveries {
		d := &inc.Deliveries[i]
		if d.Attempts > 0 && !slices.Contains(told, d.Channel) {
			told = append(told, d.Channel)
		}
		if d.State == Waiting && d.Claim == 0 {
			d.Drop(Say("over_before_sent"))
		}
	}
	if inc.Silent {
		return
	}
	for _, c := range told {
		inc.Plan(c, Recovery, at, at)
	}
}

// Acknowledge says that somebody looks after the incident: nobody else needs to hear of
// it, but those who have heard hear when it is over.
func (inc *Incident) Acknowledge(by, note string, at time.Time) {
	inc.AcknowledgedAt, inc.AcknowledgedBy, inc.Note = at, by, note
	for i := range inc.Deliveries {
		if d := &inc.Deliveries[i]; d.State == Waiting && d.Claim == 0 && d.Kind != Recovery {
			d.Drop(Say("acknowledged_by", "by", by))
		}
	}
}

// Resolve ends the incident because somebody says so.
func (inc *Incident) Resolve(by, note string, at time.Time) {
	if note != "" {
		inc.Note = note
	}
	inc.End(at, Say("resolved_by", "by", by))
}

// Remind plans the message once more, if it is time.
func (inc *Incident) Remind(now time.Time) bool {
	if inc.Repeat == 0 || inc.State != Open || !inc.AcknowledgedAt.IsZero() {
		return false
	}
	planned := false
	last := map[string]time.Time{}
	for _, d := range inc.Deliveries {
		if d.State == Waiting {
			last[d.Channel] = now
		} else if d.State == Sent && d.SentAt.After(last[d.Channel]) {
			last[d.Channel] = d.SentAt
		}
	}
	for channel, at := range last {
		if now.Sub(at) >= inc.Repeat.Std() {
			inc.Plan(channel, Reminder, now, now)
			planned = true
		}
	}
	return planned
}

// Plan adds a delivery. Old ones that are done with go.
func (inc *Incident) Plan(channel string, kind DeliveryKind, at, notBefore time.Time) {
	inc.Deliveries = append(inc.Deliveries, Delivery{
		ID: strconv.Itoa(len(inc.Deliveries) + inc.Dropped + 1), Channel: channel, Kind: kind, State: Waiting, MadeAt: at, NextAt: notBefore,
	})
	for len(inc.Deliveries) > maxDeliveries {
		i := slices.IndexFunc(inc.Deliveries, func(d Delivery) bool { return d.State != Waiting })
		if i < 0 {
			return
		}
		inc.Deliveries = slices.Delete(inc.Deliveries, i, i+1)
		inc.Dropped++
	}
}

// Drop gives up a delivery that nobody needs any more.
func (d *Delivery) Drop(why Sentence) {
	d.State, d.NextAt = Dropped, time.Time{}
	d.Because(why)
}

// Because sets why the delivery waits, was dropped or could not be sent; the zero Sentence
// is no reason.
func (d *Delivery) Because(why Sentence) {
	d.Reason, d.ReasonCode, d.ReasonParams = why.English(), why.Code, why.Params
}

// Key names the delivery to the other side: the same each time that it is sent.
func (inc *Incident) Key(d *Delivery) string { return inc.ID + "-" + d.ID }

// Delivery returns one of the incident's deliveries, or nil.
func (inc *Incident) Delivery(id string) *Delivery {
	for i := range inc.Deliveries {
		if inc.Deliveries[i].ID == id {
			return &inc.Deliveries[i]
		}
	}
	return nil
}

// NewTest returns an incident whose only purpose is a message to a channel.
func NewTest(channel, by string, now time.Time) *Incident {
	inc := &Incident{
		ID: NewID(now, "test", channel, by), Subject: "channel " + channel, Severity: Info, State: Open, Count: 1, OpenedAt: now,
	}
	inc.summarize(Say("channel_test", "channel", channel, "by", by))
	inc.End(now, Say("was_test"))
	inc.Plan(channel, Test, now, now)
	return inc
}

var alphabet = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// NewID returns an id that sorts by the instant, and depends on nothing but what it is
// given: two alerters that see the same give it the same name.
func NewID(at time.Time, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	ms := fmt.Sprintf("%09s", strconv.FormatInt(at.UnixMilli(), 32))
	return ms + alphabet.EncodeToString(sum[:8])
}

// HashOf returns a name for a subject of a rule that can be a part of a key.
func HashOf(rule, subject string) string {
	sum := sha256.Sum256([]byte(rule + "\x00" + subject))
	return alphabet.EncodeToString(sum[:15])
}

// Source is where a message was read.
type Source string
