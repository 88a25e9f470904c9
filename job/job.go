package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Bounds of a job document.
const (
	MaxDocument    = 256 << 10 // bytes of JSON
	MaxShell       = 64 << 10  // bytes of a shell task's script, of a standard input, of a body
	MaxParams      = 64 << 10  // bytes of JSON parameters
	MaxSchema      = 16 << 10  // bytes of their schema
	MaxDescription = 4 << 10   // bytes
	MaxTimeout     = 30 * 24 * time.Hour
)

// Job is what to run and when: the document that people write.
type Job struct {
	Job Name `json:"job"`
	// Title is what people call the job, if not by its name. Owner is who answers for it: a
	// user or a team. By Tags it is found among others.
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	// Target is what the job must reach. No fire depends on it.
	Target   *Target  `json:"target,omitempty"`
	Schedule Schedule `json:"schedule,omitzero"`
	// Paused has every fire recorded as skipped. PausedUntil does so up to an instant,
	// and is not given together with it: the fire at that instant runs.
	Paused      bool       `json:"paused,omitempty"`
	PausedUntil *time.Time `json:"paused_until,omitempty"`
	Misfire     Misfire    `json:"misfire,omitzero"`
	Delivery    Delivery   `json:"delivery,omitempty"`
	// Route says which instance of the group does a run, Labels which are considered.
	Route  Route  `json:"route,omitempty"`
	Labels Labels `json:"labels,omitempty"`
	// Priority says which of the group's pending runs begin first.
	Priority Priority `json:"priority,omitempty"`
	// Map has a run done in several pieces, as route broadcast has it done by each
	// instance; SucceedsIf says how many of the pieces have to succeed.
	Map        *Map  `json:"map,omitempty"`
	SucceedsIf Share `json:"succeeds_if,omitzero"`
	// AtOnce is how many pieces of a broadcast may be with the executors at once; a map has
	// its own. Zero is no limit.
	AtOnce int `json:"at_once,omitempty"`
	// Overlap, Retry and Children say what else happens when a run begins or ends.
	Overlap  Overlap `json:"overlap,omitzero"`
	Retry    Retry   `json:"retry,omitzero"`
	Children []Child `json:"children,omitempty"`
	// Timeout ends an attempt that takes longer, TotalTimeout a run with all its
	// attempts and the waits between them. WarnAfter only says so in the attempt's log.
	// Zero is no limit.
	Timeout      Duration `json:"timeout,omitempty"`
	TotalTimeout Duration `json:"total_timeout,omitempty"`
	WarnAfter    Duration `json:"warn_after,omitempty"`
	// KillGrace is how long what a run has started may take to end when it is told to,
	// before it is killed. Zero leaves it to the executor, whose own is 5 s.
	KillGrace Duration `json:"kill_grace,omitempty"`
	// StartWithin is how long a run may wait, queued or for a free instance, until it
	// begins; then it is missed. Zero is no limit.
	StartWithin Duration `json:"start_within,omitempty"`
	// MaxDeliveries is how many executors may die while they have an attempt; then it is lost.
	// Zero is [DefaultMaxDeliveries].
	MaxDeliveries int `json:"max_deliveries,omitempty"`
	// PauseAfter pauses the job when so many runs in a row have ended badly. Zero never
	// does.
	PauseAfter int  `json:"pause_after_failures,omitempty"`
	Task       Task `json:"task,omitzero"`
	// Params is any JSON value; handlers and scripts receive it.
	Params json.RawMessage `json:"params,omitempty"`
	// ParamsSchema is a JSON schema of the parameters, which the API checks.
	ParamsSchema json.RawMessage `json:"params_schema,omitempty"`
	// Steps make the job a workflow: a run of it does them, as their graph says, instead of Task.
	Steps []Step `json:"steps,omitempty"`
	// OnFailure defaults to continue. Result is what a run of the steps returns, with references to theirs.
	OnFailure FailurePolicy   `json:"on_failure,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
}

// Delivery says what happens to a run whose executor vanished while it ran.
type Delivery string

// The delivery guarantees. The empty value is at least once.
const (
	AtLeastOnce Delivery = "at_least_once" // it is run again, elsewhere
	AtMostOnce  Delivery = "at_most_once"  // it is never run again, and ends as lost
)

// Version is a job as it was saved. It holds for fires after EffectiveFrom, up to
// and including the next version's EffectiveFrom.
type Version struct {
	Job
	// Version is 1 for the first and grows by one with each edit.
	Version       int       `json:"version"`
	EffectiveFrom time.Time `json:"effective_from"`
	Author        string    `json:"author,omitempty"`
	Note          string    `json:"note,omitempty"`
	// Skips are the fires after EffectiveFrom that somebody has called off, in order. They
	// belong to no document: each version takes over those of the one before.
	Skips []Skip `json:"skips,omitempty"`
	// Deleted marks a tombstone: from EffectiveFrom on the job does not fire.
	Deleted bool `json:"deleted,omitempty"`
	// Format is what a program must know to read the version; see [Version.Needs].
	Format int `json:"format,omitempty"`
}

// Document is a job as somebody wrote it.
type Document struct {
	Job
	// KeepPause reports that the document says nothing about a pause: neither paused nor
	// paused_until. Then an existing job stays paused, or active, as it is.
	KeepPause bool `json:"-"`
}

// UnmarshalJSON reads a document. It does not check the job: see [Decode].
func (d *Document) UnmarshalJSON(data []byte) error {
	var pause struct {
		Paused      json.RawMessage `json:"paused"`
		PausedUntil json.RawMessage `json:"paused_until"`
	}
	if err := json.Unmarshal(data, &pause); err != nil {
		return err
	}
	d.KeepPause = pause.Paused == nil && pause.PausedUntil == nil
	return json.Unmarshal(data, &d.Job)
}

// VersionFormat is the newest format of versions that this program can read.
const VersionFormat = 3

// Needs returns the format of a version. Whoever adds to jobs what older programs must not ignore raises
// [VersionFormat], and returns the new one here for versions that have it. A deleted
// job needs the first.
func (v *Version) Needs() int {
	switch {
	case v.Deleted:
		return 1
	case v.Elsewhere():
		return 3
	case len(v.Steps) > 0:
		return 2
	}
	return 1
}

// Decode reads one job document from JSON, fills in its defaults and checks it.
// Unknown fields are refused. The error holds an *InvalidError for each problem.
func Decode(data []byte) (Job, error) {
	var j Job
	if len(data) > MaxDocument {
		return j, Invalid("", "the document has %d bytes; a job may have at most %d", len(data), MaxDocument)
	}
	if err := decodeStrict(data, &j); err != nil {
		return j, locate(data, &j, err)
	}
	j = j.WithDefaults()
	return j, j.Validate()
}

func decodeStrict(data []byte, into any) error {
	if err := CheckFields(data, into); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Invalid("", "the document goes on after its end; write one job a document")
	}
	return nil
}

// CheckFields refuses a JSON document with a field that the type of into does not have. Unlike
// encoding/json, it is case-sensitive. The error proposes the nearest field.
func CheckFields(data []byte, into any) error {
	field, nearest := exact.Unknown(data, into)
	switch {
	case field == "":
		return nil
	case field == "join":
		return Invalid(field, `has been replaced by workflows: write steps with "join"; see docs/how-to/workflows.md`)
	case nearest == "":
		return Invalid(field, unknownField)
	}
	return Invalid(field, "%s; write %s", unknownField, nearest)
}

// explain turns an error of encoding/json into one that names the field.
func explain(err error) error {
	if bad, ok := errors.AsType[*InvalidError](err); ok {
		return bad
	}
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Invalid(typ.Field, "must be %s, not %s", jsonKind(typ.Type.String()), typ.Value)
	}
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return Invalid("", "%q must be an instant that exists, in RFC 3339, such as 2026-03-01T09:00:00+01:00", clip.Text(at.Value, maxQuoted))
	}
	if syn, ok := errors.AsType[*json.SyntaxError](err); ok {
		return Invalid("", "not JSON: %s at byte %d", syn.Error(), syn.Offset)
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Invalid(strings.Trim(text, `"`), unknownField)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return Invalid("", "the document ends too early")
	}
	return Invalid("", "%s", strings.TrimPrefix(err.Error(), "json: "))
}

const unknownField = "is not a known field"

func jsonKind(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	case strings.HasPrefix(goType, "map["), strings.HasPrefix(goType, "job."):
		return "an object"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	case goType == "bool":
		return "true or false"
	default:
		return "text"
	}
}

// WithDefaults returns j with its unset policies filled in.
func (j Job) WithDefaults() Job {
	j.Schedule = j.Schedule.withDefaults()
	j.Misfire = j.Misfire.withDefaults()
	if j.Delivery == "" {
		j.Delivery = AtLeastOnce
	}
	if j.Route == "" {
		j.Route = RouteAny
	}
	j.Priority = j.Priority.withDefaults()
	j.Overlap = j.Overlap.withDefaults()
	j.Retry = j.Retry.withDefaults(j.Delivery)
	j.Children = j.withDefaultChildren()
	return j
}

// Validate reports everything that is wrong with j, each problem as an
// *InvalidError, joined. It does not change j.
func (j Job) Validate() error {
	var errs []error
	if _, err := ParseName(string(j.Job)); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, j.validateAbout()...)
	errs = append(errs, j.validateTarget()...)
	errs = append(errs, j.Schedule.validate(j.Job)...)
	if err := j.validatePause(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, j.Misfire.validate()...)
	errs = append(errs, j.validatePieces()...)
	errs = append(errs, j.Overlap.validate()...)
	errs = append(errs, j.validateChildren()...)
	errs = append(errs, j.validateSteps()...)
	errs = append(errs, j.validateAttempts()...)
	errs = append(errs, j.validateWatch()...)
	return errors.Join(errs...)
}

// validateAttempts checks what the job says of an attempt of its runs: by whom, how often, how long and
// what.
func (j *Job) validateAttempts() []error {
	var errs []error
	switch j.Delivery {
	case AtLeastOnce, AtMostOnce, "":
	default:
		errs = append(errs, Invalid("delivery", "%q must be at_least_once or at_most_once", clip.Text(string(j.Delivery), maxQuoted)))
	}
	if err := j.Route.validate(); err != nil {
		errs = append(errs, err)
	}
	if err := j.Labels.Validate(); err != nil {
		errs = append(errs, err)
	}
	if err := j.Priority.validate(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, j.Retry.validate(j.Delivery)...)
	errs = append(errs, j.validateLimits()...)
	switch {
	case len(j.Steps) > 0:
	case j.Steps != nil && j.Task.Kind() == "":
		errs = append(errs, Invalid("steps", "is empty: write a step, or a task in the place of steps"))
	default:
		errs = append(errs, j.Task.validate()...)
	}
	if err := j.checkFireTime(); err != nil {
		errs = append(errs, err)
	}
	if len(j.Params) > MaxParams {
		errs = append(errs, Invalid("params", "has %d bytes; at most %d are passed on", len(j.Params), MaxParams))
	}
	if len(j.ParamsSchema) > 0 && j.ParamsSchema[0] != '{' {
		errs = append(errs, Invalid("params_schema", "must be an object, a JSON schema"))
	}
	if len(j.ParamsSchema) > MaxSchema {
		errs = append(errs, Invalid("params_schema", "has %d bytes; a schema may have at most %d", len(j.ParamsSchema), MaxSchema))
	}
	return errs
}
