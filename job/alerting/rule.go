package alerting

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Rule says what is worth a message, and to whom.
type Rule struct {
	Alert       string `json:"alert"` // its name, a slug
	Description string `json:"description,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
	// Match selects the jobs, or groups, that the rule is about. Empty is all.
	Match Match     `json:"match,omitzero"`
	When  Condition `json:"when"`
	// GroupBy says what shares an incident: each job has its own, all jobs of an executor
	// group have one, or the rule has one for all.
	GroupBy  GroupBy  `json:"group_by,omitempty"`
	Severity Severity `json:"severity,omitempty"`
	// Wait is how long an incident has to be open before the first message, so that one
	// which passes by itself wakes nobody, and one of many jobs tells of all of them.
	Wait job.Duration `json:"wait,omitempty"`
	// Repeat is how often the message comes again while nobody has acknowledged the
	// incident. Zero is never.
	Repeat job.Duration `json:"repeat,omitempty"`
	// NoRecovery leaves out the message that the incident is resolved.
	NoRecovery bool     `json:"no_recovery,omitempty"`
	Channels   []string `json:"channels"`

	Since time.Time `json:"-"` // what happened before it was made is not its concern
}

// RuleDocument is a rule as somebody wrote it.
type RuleDocument struct {
	Rule
	// Disabled is nil if the document does not mention it: an existing rule stays as it is.
	Disabled *bool `json:"disabled,omitempty"`
}

// Over returns the rule that d becomes in place of was, which is nil for a new one.
func (d RuleDocument) Over(was *Rule) Rule {
	r := d.Rule
	r.Disabled = was != nil && was.Disabled
	if d.Disabled != nil {
		r.Disabled = *d.Disabled
	}
	return r
}

// Match selects jobs. Each field that is set must hold.
type Match struct {
	Groups []string   `json:"groups,omitempty"` // executor groups
	Jobs   []job.Name `json:"jobs,omitempty"`
	Labels job.Labels `json:"labels,omitempty"` // that the job asks of its instances
}

// Condition is what has to be so. Exactly one of its kinds is set.
type Condition struct {
	// Ends lists final statuses of runs: failed, timed_out, lost, missed, cancelled. InARow
	// asks for so many such ends one after the other; zero is one.
	Ends   []job.Status `json:"ends,omitempty"`
	InARow int          `json:"in_a_row,omitempty"`
	// IgnoreAway leaves out runs done elsewhere that were missed while no server was there for some of their
	// time, so that a ping may not have arrived.
	IgnoreAway bool `json:"ignore_away,omitempty"`
	// StartsWithin and EndsWithin are how long after its fire time a run may not have begun,
	// and not have ended.
	StartsWithin job.Duration `json:"starts_within,omitempty"`
	EndsWithin   job.Duration `json:"ends_within,omitempty"`
	// Predict has EndsWithin also find a run that will likely not have ended by then, as soon as that
	// can be estimated from how long the job's runs take.
	Predict bool `json:"predict,omitempty"`
	// Slower is how many times as long as the 95th percentile of those before it a run takes
	// that succeeds.
	Slower float64 `json:"slower_than_p95,omitempty"`
	// NoExecutor is how long an executor group that has jobs has no instance.
	NoExecutor job.Duration `json:"no_executor_for,omitempty"`
	// StreamFull is how much of its bytes a stream has used up, in percent.
	StreamFull int `json:"stream_full,omitempty"`
	// StoreFull is how much of the log store's disk is used up, in percent.
	StoreFull int `json:"store_full,omitempty"`
	// Discrepancy is that the audit of the ledger finds a fire without its run or a reason,
	// or a run without a fire. Such an incident is over when somebody says so.
	Discrepancy bool `json:"discrepancy,omitempty"`
	// DeadLetters is that a message about a run is refused and put aside. Such an incident is
	// over when somebody says so.
	DeadLetters bool `json:"dead_letters,omitempty"`
	// ShardsParked is that a shard cannot go on, so that its jobs do
	// not fire.
	ShardsParked bool `json:"shards_parked,omitempty"`
	// ClockWrong is that the clock of a server is out of line, so that it fires nothing, or that
	// of NATS.
	ClockWrong bool `json:"clock_wrong,omitempty"`
	// OverBudget is that an executor group has more than its share: it sends or keeps more than it may,
	// or gives triggers back without a delay, and is cut off for a while; or too many of its runs wait.
	OverBudget bool `json:"over_budget,omitempty"`
	// TargetMissed is that a job misses its target, over [job.TargetWindow].
	TargetMissed bool `json:"target_missed,omitempty"`
	// ApprovalWanted is that a step of a workflow begins to wait for approval. Each such step has an incident
	// of its own, which is over when the step ends.
	ApprovalWanted bool `json:"approval_wanted,omitempty"`
	// NeverHeard is for how long a job that runs elsewhere is saved as it is, and nobody has ever pinged it.
	NeverHeard job.Duration `json:"never_heard,omitempty"`
	// Unasked is how many runs of a job pings report within an hour that no fire asked for, as a loop does.
	Unasked int `json:"unasked,omitempty"`
}

// GroupBy says what shares an incident.
type GroupBy string

// The ways to group.
const (
	ByJob   GroupBy = "job"
	ByGroup GroupBy = "group"
	ByRule  GroupBy = "rule"
)

// Severity says how bad it is. Quiet hours hold back all but what is critical.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Severities lists them, the least first.
var Severities = []Severity{Info, Warning, Critical}

// Bounds of a rule.
const (
	MaxMatch    = 200 // groups, jobs
	MaxInARow   = 100
	MaxChannels = 20 // of a rule
	MaxWait     = 24 * time.Hour
	MaxUnasked  = 100
	minRepeat   = time.Minute
	maxLate     = 30 * 24 * time.Hour
	MaxText     = 4 << 10 // bytes of a description
)

// bad are the ends that are bad unless a rule says otherwise.
var bad = []job.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost, job.StatusMissed}

// WithDefaults returns r with what was left out.
func (r Rule) WithDefaults() Rule {
	if r.When.kinds() == 0 || (r.When.InARow > 0 || r.When.IgnoreAway) && len(r.When.Ends) == 0 {
		r.When.Ends = bad
	}
	if r.GroupBy == "" {
		r.GroupBy = ByJob
	}
	if r.Severity == "" {
		r.Severity = Warning
	}
	return r
}

// OfRuns reports whether it is the ends of runs that the condition is about, or how long
// they take.
func (c *Condition) OfRuns() bool {
	return c.NoExecutor == 0 && c.StreamFull == 0 && c.StoreFull == 0 && !c.Discrepancy && !c.DeadLetters && !c.ShardsParked && !c.ClockWrong && !c.OverBudget && !c.TargetMissed && !c.ApprovalWanted && c.NeverHeard == 0
}

// Remembers reports whether it depends on the runs of the job before.
func (c *Condition) Remembers() bool {
	return c.InARow > 1 || c.Slower != 0 || c.Predict || c.Unasked > 0
}

// kinds returns how many kinds of condition are set.
func (c *Condition) kinds() int {
	n := 0
	for _, set := range []bool{len(c.Ends) > 0, c.StartsWithin != 0, c.EndsWithin != 0, c.Slower != 0, c.NoExecutor != 0, c.StreamFull != 0, c.StoreFull != 0, c.Discrepancy, c.DeadLetters, c.ShardsParked, c.ClockWrong, c.OverBudget, c.TargetMissed, c.ApprovalWanted, c.NeverHeard != 0, c.Unasked != 0} {
		if set {
			n++
		}
	}
	return n
}

// Validate returns an error that holds an *InvalidError for each problem.
func (r *Rule) Validate() error {
	errs := []error{job.CheckSlug("alert", r.Alert), r.Match.validate(), r.When.validate()}
	if len(r.Description) > MaxText {
		errs = append(errs, job.Invalid("description", "is longer than %d bytes", MaxText))
	}
	if !slices.Contains([]GroupBy{ByJob, ByGroup, ByRule}, r.GroupBy) {
		errs = append(errs, job.Invalid("group_by", "%q must be job, group or rule", r.GroupBy))
	}
	if !slices.Contains(Severities, r.Severity) {
		errs = append(errs, job.Invalid("severity", "%q must be one of %v", r.Severity, Severities))
	}
	if r.Wait < 0 || r.Wait.Std() > MaxWait {
		errs = append(errs, job.Invalid("wait", "%s must be between 0 and %s", r.Wait, job.Duration(MaxWait)))
	}
	if r.Repeat != 0 && r.Repeat.Std() < minRepeat {
		errs = append(errs, job.Invalid("repeat", "%s must be 1m or more, or 0 for never", r.Repeat))
	}
	if len(r.Channels) > MaxChannels {
		errs = append(errs, job.Invalid("channels", "has %d entries; at most %d are taken", len(r.Channels), MaxChannels))
	}
	for i, c := range r.Channels {
		errs = append(errs, job.CheckSlug(fmt.Sprintf("channels[%d]", i), c))
	}
	return errors.Join(errs...)
}

func (c *Condition) validate() error {
	if c.kinds() != 1 {
		return job.Invalid("when", "must have exactly one of ends, starts_within, ends_within, slower_than_p95, no_executor_for, stream_full, store_full, discrepancy, dead_letters, shards_parked, clock_wrong, over_budget, target_missed, approval_wanted, never_heard and unasked")
	}
	var errs []error
	for i, s := range c.Ends {
		if !s.Final() || s == job.StatusSucceeded || s == job.StatusSkipped {
			errs = append(errs, job.Invalid(fmt.Sprintf("when.ends[%d]", i), "%q must be failed, timed_out, lost, missed or cancelled", s))
		}
	}
	if c.InARow < 0 || c.InARow > MaxInARow || c.InARow > 0 && len(c.Ends) == 0 {
		errs = append(errs, job.Invalid("when.in_a_row", "%d must be between 1 and %d, together with ends", c.InARow, MaxInARow))
	}
	if c.IgnoreAway && !slices.Contains(c.Ends, job.StatusMissed) {
		errs = append(errs, job.Invalid("when.ignore_away", "is only for ends with missed"))
	}
	if c.Predict && c.EndsWithin == 0 {
		errs = append(errs, job.Invalid("when.predict", "is only for ends_within"))
	}
	for field, d := range map[string]job.Duration{"starts_within": c.StartsWithin, "ends_within": c.EndsWithin, "no_executor_for": c.NoExecutor, "never_heard": c.NeverHeard} {
		if d != 0 && (d.Std() < time.Second || d.Std() > maxLate) {
			errs = append(errs, job.Invalid("when."+field, "%s must be between 1s and %s", d, job.Duration(maxLate)))
		}
	}
	if c.Slower != 0 && (c.Slower < 1 || c.Slower > 1000) {
		errs = append(errs, job.Invalid("when.slower_than_p95", "%g must be between 1 and 1000", c.Slower))
	}
	if c.Unasked < 0 || c.Unasked > MaxUnasked {
		errs = append(errs, job.Invalid("when.unasked", "%d must be between 1 and %d", c.Unasked, MaxUnasked))
	}
	if c.StreamFull < 0 || c.StreamFull > 100 {
		errs = append(errs, job.Invalid("when.stream_full", "%d must be a percentage from 1 to 100", c.StreamFull))
	}
	if c.StoreFull < 0 || c.StoreFull > 100 {
		errs = append(errs, job.Invalid("when.store_full", "%d must be a percentage from 1 to 100", c.StoreFull))
	}
	return errors.Join(errs...)
}

func (m *Match) validate() error {
	var errs []error
	if len(m.Groups) > MaxMatch || len(m.Jobs) > MaxMatch || len(m.Labels) > MaxMatch {
		errs = append(errs, job.Invalid("match", "has more than %d entries of a kind", MaxMatch))
	}
	for i, g := range m.Groups {
		errs = append(errs, job.CheckSlug(fmt.Sprintf("match.groups[%d]", i), g))
	}
	for i, name := range m.Jobs {
		if _, err := job.ParseName(string(name)); err != nil {
			errs = append(errs, job.Invalid(fmt.Sprintf("match.jobs[%d]", i), "%q must be GROUP/NAME", name))
		}
	}
	return errors.Join(errs...)
}

// Selects reports whether the rule is about a job. labels are those of the job, asked
// for only if the rule has some.
func (m *Match) Selects(name job.Name, labels func(job.Name) job.Labels) bool {
	if len(m.Groups) > 0 && !slices.Contains(m.Groups, name.Group()) || len(m.Jobs) > 0 && !slices.Contains(m.Jobs, name) {
		return false
	}
	return len(m.Labels) == 0 || m.Labels.Match(labels(name))
}

// SelectsGroup reports whether the rule is about an executor group.
func (m *Match) SelectsGroup(group string) bool {
	return len(m.Groups) == 0 || slices.Contains(m.Groups, group)
}
