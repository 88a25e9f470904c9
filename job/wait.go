package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/firetime"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// Bounds of waits.
const (
	// MinWait and MaxWait bound how long a step waits.
	MinWait = Duration(time.Second)
	MaxWait = Duration(30 * 24 * time.Hour)
	// MaxSignalKey bounds [Wait.Key], in bytes, once its references are replaced.
	MaxSignalKey = 255
	// MaxApprovers bounds [Approval.By] and [Approval.Min].
	MaxApprovers = 50
	// MaxAwaitedRuns bounds [AwaitedRuns.Last].
	MaxAwaitedRuns = 500
)

// Wait is what a step waits for in the place of a task. It is for exactly one of an instant (For or Until), a
// signal, an approval, or runs of a job.
type Wait struct {
	// For is how long after its beginning the step ends, from MinWait to MaxWait.
	For Duration `json:"for,omitempty"`
	// Until is an instant in RFC 3339, at most MaxWait ahead when the step begins. It may have references, such
	// as ${fire_time|day|+22h} or ${params.at}.
	Until string `json:"until,omitempty"`
	// Signal is the name of a signal: a lower-case letter, and up to 62 of lower-case letters, digits, '_' and '-'.
	Signal string `json:"signal,omitempty"`
	// Key tells signals of one name apart, such as the number of an order. It may have references.
	Key string `json:"key,omitempty"`
	// Approval waits for people.
	Approval *Approval `json:"approval,omitempty"`
	// Runs waits for runs of a job.
	Runs *AwaitedRuns `json:"runs,omitempty"`
	// Expires is after how long the step times out, if what it waits for has not come. Zero is never, or
	// [FinallyLimit] in a finally step. It does not go with For and Until.
	Expires Duration `json:"expires,omitempty"`
}

// Approval is whose approval a step waits for.
type Approval struct {
	// By lists who may approve and reject: user:NAME, or role:ROLE in the group of the job. Defaults to
	// role:operator.
	By []string `json:"by,omitempty"`
	// NotByRequester keeps those out who have asked for the run.
	NotByRequester bool `json:"not_by_requester,omitempty"`
	// Min is how many people have to approve. Defaults to 1.
	Min int `json:"min,omitempty"`
}

// ByOperators is the default of [Approval.By].
var ByOperators = []string{approvalRole + "operator"}

// approvalRoles are those of package rights, which imports this one.
var approvalRoles = []string{"viewer", "operator", "editor", "admin"}

// What an entry of [Approval.By] begins with.
const (
	approvalUser = "user:"
	approvalRole = "role:"
)

// AwaitedRuns are the runs of a job that a step waits for: those of the fires that the job owes from From to before To,
// or the Last before the fire time of the step's run. Each fire has to have a run that succeeded.
type AwaitedRuns struct {
	Job Name `json:"job"`
	// From and To are instants in RFC 3339, and may have references, such as ${fire_time|-1d|day}.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Last is how many fires, from 1 to MaxAwaitedRuns, in the place of From and To.
	Last int `json:"last,omitempty"`
	// Need is how many of the fires are enough. Defaults to all.
	Need Need `json:"need,omitempty"`
	// Skipped is [SkippedOK] if a fire that was skipped by a pause, or by overlap, counts as met. Defaults to
	// [SkippedBad].
	Skipped string `json:"skipped,omitempty"`
}

// The values of [AwaitedRuns.Skipped].
const (
	SkippedOK  = "ok"
	SkippedBad = "bad"
)

// Need is how many of some fires are enough: "all", "any", a number such as "3", or a share such as "80%". Empty is
// all. In JSON a number may be written as one.
type Need string

// UnmarshalJSON reads text or a number.
func (n *Need) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		*n = Need(data)
		if string(data) == "null" {
			*n = ""
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(n))
}

// Of returns how many of so many fires are enough. It may be more than there are.
func (n Need) Of(fires int) int {
	switch text, share := strings.CutSuffix(string(n), "%"); {
	case n == "any":
		return 1
	case share:
		percent, _ := strconv.Atoi(text)
		return (fires*percent + 99) / 100
	default:
		if number, err := strconv.Atoi(text); err == nil {
			return number
		}
	}
	return fires
}

// known reports whether n is one of those that are described above.
func (n Need) known() bool {
	if n == "" || n == "all" || n == "any" {
		return true
	}
	text, share := strings.CutSuffix(string(n), "%")
	number, err := strconv.Atoi(text)
	return err == nil && number > 0 && strconv.Itoa(number) == text && (!share || number <= 100) && number <= MaxAwaitedFires
}

// MaxAwaitedFires bounds a number in [Need].
const MaxAwaitedFires = 100_000

// Kind returns which field says what is waited for: for, until, signal, approval or runs; "" if none does, and the first
// if several do.
func (w *Wait) Kind() string {
	if kinds := w.kinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return ""
}

func (w *Wait) kinds() (kinds []string) {
	for _, k := range []struct {
		set  bool
		name string
	}{{w.For != 0, "for"}, {w.Until != "", "until"}, {w.Signal != "", "signal"}, {w.Approval != nil, "approval"}, {w.Runs != nil, "runs"}} {
		if k.set {
			kinds = append(kinds, k.name)
		}
	}
	return kinds
}

// Brief says in a line what is waited for, without the kind.
func (w *Wait) Brief() string {
	switch w.Kind() {
	case "for":
		return w.For.String()
	case "until":
		return w.Until
	case "signal":
		return strings.TrimSpace(w.Signal + " " + w.Key)
	case "approval":
		by := strings.Join(w.Approval.Approvers(), ", ")
		if w.Approval.Least() > 1 {
			by = fmt.Sprintf("%d of %s", w.Approval.Least(), by)
		}
		return by
	case "runs":
		if w.Runs.Last > 0 {
			return fmt.Sprintf("%s, last %d", w.Runs.Job, w.Runs.Last)
		}
		return fmt.Sprintf("%s from %s to %s", w.Runs.Job, w.Runs.From, w.Runs.To)
	}
	return ""
}

// Approvers returns By, or its default.
func (a *Approval) Approvers() []string {
	if len(a.By) == 0 {
		return ByOperators
	}
	return a.By
}

// Least returns Min, or its default.
func (a *Approval) Least() int { return max(a.Min, 1) }

// Texts yields the texts that may have references, each with its path in the wait.
func (w *Wait) Texts() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if !yield("until", w.Until) || !yield("key", w.Key) || w.Runs == nil {
			return
		}
		_ = yield("runs.from", w.Runs.From) && yield("runs.to", w.Runs.To)
	}
}

// References returns the references in the texts of a wait that was validated; nil has none.
func (w *Wait) References() (all []workflow.Reference) {
	if w == nil {
		return nil
	}
	for _, text := range w.Texts() {
		value, err := json.Marshal(text)
		if err != nil {
			continue
		}
		refs, err := workflow.References(value)
		if err == nil {
			all = append(all, refs...)
		}
	}
	return all
}

// Awaited returns the jobs for whose runs steps of j wait.
func (j *Job) Awaited() (names []Name) {
	for i := range j.Steps {
		if w := j.Steps[i].Wait; w != nil && w.Runs != nil {
			names = append(names, w.Runs.Job)
		}
	}
	return names
}

// validateWait reports what is wrong with step i, which waits, beside its place in the graph.
func (j *Job) validateWait(i int) (errs []error) {
	s := &j.Steps[i]
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, Invalid(fmt.Sprintf("steps[%d].%s", i, field), format, args...))
		}
	}
	for _, err := range Problems(errors.Join(checkLine("title", s.Title, MaxTitle)...)) {
		refuse(true, err.Field, "%s", err.Reason)
	}
	refuse(s.Task.Kind() != "", "task", "does not go with wait: a step has one of them")
	refuse(s.Call != "", "call", "does not go with wait: a step has one of them")
	for _, field := range s.ofTasks() {
		refuse(true, field, "does not go with wait")
	}
	refuse(s.Timeout != 0, "timeout", "does not go with wait; write expires in the wait")
	refuse(len(s.Params) > 0, "params", "does not go with wait")
	for _, err := range Problems(errors.Join(s.Wait.validate()...)) {
		refuse(true, strings.TrimSuffix("wait."+err.Field, "."), "%s", err.Reason)
	}
	return errs
}

// validate reports what is wrong with a wait, by paths within it.
func (w *Wait) validate() (errs []error) {
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, Invalid(field, format, args...))
		}
	}
	kinds := w.kinds()
	switch len(kinds) {
	case 0:
		refuse(true, "", "is empty; it is for one of for, until, signal, approval and runs")
	case 1:
	default:
		refuse(true, "", "has %s; a wait is for one of them", strings.Join(kinds, " and "))
	}
	timed := w.For != 0 || w.Until != ""
	refuse(w.For != 0 && (w.For < MinWait || w.For > MaxWait), "for", "%s must be from %s to %s", w.For, MinWait, MaxWait)
	refuse(w.Expires != 0 && timed, "expires", "does not go with for and until, which end by themselves")
	refuse(w.Expires != 0 && !timed && (w.Expires < MinWait || w.Expires > MaxWait), "expires", "%s must be from %s to %s", w.Expires, MinWait, MaxWait)
	refuse(w.Signal != "" && !KnownSignal(w.Signal), "signal", "%q may have up to 63 lower-case letters, digits, '_' and '-', and begins with a letter", clip.Text(w.Signal, maxQuoted))
	refuse(w.Key != "" && w.Signal == "", "key", "goes only with signal")
	refuse(len(w.Key) > MaxParams, "key", "has %d bytes; at most %d are allowed", len(w.Key), MaxParams)
	errs = append(errs, checkInstant("until", w.Until)...)
	if w.Approval != nil {
		errs = append(errs, w.Approval.validate()...)
	}
	if w.Runs != nil {
		errs = append(errs, w.Runs.validate()...)
	}
	return errs
}

// KnownSignal reports whether a signal may have the name.
func KnownSignal(name string) bool {
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-') {
			return false
		}
	}
	return name != "" && len(name) <= workflow.MaxName
}

func (a *Approval) validate() (errs []error) {
	if len(a.By) > MaxApprovers {
		errs = append(errs, Invalid("approval.by", "has %d entries; at most %d are allowed", len(a.By), MaxApprovers))
	}
	people := true
	for i, by := range a.By {
		role, ofRole := strings.CutPrefix(by, approvalRole)
		user, ofUser := strings.CutPrefix(by, approvalUser)
		field := fmt.Sprintf("approval.by[%d]", i)
		people = people && ofUser
		switch {
		case ofRole && slices.Contains(approvalRoles, role), ofUser && user != "" && len(checkLine(field, user, MaxTitle)) == 0:
		case ofRole:
			errs = append(errs, Invalid(field, "%q must be one of %v, after role:", clip.Text(role, maxQuoted), approvalRoles))
		default:
			errs = append(errs, Invalid(field, "%q must be user:NAME or role:ROLE", clip.Text(by, maxQuoted)))
		}
		if slices.Contains(a.By[:i], by) {
			errs = append(errs, Invalid(field, "%q is listed twice", clip.Text(by, maxQuoted)))
		}
	}
	switch {
	case a.Min < 0 || a.Min > MaxApprovers:
		errs = append(errs, Invalid("approval.min", "%d must be from 1 to %d", a.Min, MaxApprovers))
	case people && len(a.By) > 0 && a.Min > len(a.By):
		errs = append(errs, Invalid("approval.min", "%d must not be more than the people in by, of whom there are %d", a.Min, len(a.By)))
	}
	return errs
}

func (r *AwaitedRuns) validate() (errs []error) {
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, Invalid("runs."+field, format, args...))
		}
	}
	_, bad := ParseName(string(r.Job))
	refuse(bad != nil, "job", "%q must be group/name", clip.Text(string(r.Job), maxQuoted))
	ranged := r.From != "" || r.To != ""
	refuse(ranged && r.Last != 0, "last", "does not go with from and to")
	refuse(!ranged && r.Last == 0, "from", "is missing; write from and to, or last")
	refuse(ranged && r.From == "", "from", "is missing")
	refuse(ranged && r.To == "", "to", "is missing")
	refuse(r.Last < 0 || r.Last > MaxAwaitedRuns, "last", "%d must be from 1 to %d", r.Last, MaxAwaitedRuns)
	refuse(!r.Need.known(), "need", "%q must be all, any, a number of fires or a share such as 80%%", clip.Text(string(r.Need), maxQuoted))
	refuse(r.Skipped != "" && r.Skipped != SkippedOK && r.Skipped != SkippedBad, "skipped", "%q must be ok or bad", clip.Text(r.Skipped, maxQuoted))
	errs = append(errs, checkInstant("runs.from", r.From)...)
	return append(errs, checkInstant("runs.to", r.To)...)
}

// checkInstant reports that a text is not an instant. Of one with references only the fire time is looked at.
func checkInstant(field, text string) []error {
	if text == "" {
		return nil
	}
	if len(text) > MaxParams {
		return []error{Invalid(field, "has %d bytes; at most %d are allowed", len(text), MaxParams)}
	}
	expanded, err := firetime.Expand(text, time.Unix(0, 0), time.UTC)
	if err != nil {
		return []error{Invalid(field, "%s", err)}
	}
	if quoted, err := json.Marshal(text); err == nil {
		if refs, err := workflow.References(quoted); err != nil || len(refs) > 0 {
			return nil // what is wrong with references is told where all are looked at
		}
	}
	if _, err := time.Parse(time.RFC3339, expanded); err != nil {
		return []error{Invalid(field, "%q must be an instant, such as 2026-01-05T22:00:00Z or ${fire_time|day|+22h}", clip.Text(text, maxQuoted))}
	}
	return nil
}
