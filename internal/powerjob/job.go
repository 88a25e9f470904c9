package powerjob

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// retryDelay is how long PowerJob waits before it repeats an instance that has failed.
const retryDelay = 10 * time.Second

// official begins the names of the processors that come with PowerJob.
const official = "tech.powerjob.official.processors."

// job makes a job of one.
func (im *importer) job(j *jobInfo, name job.Name) Entry {
	e := Entry{ID: int64(j.ID), Title: j.JobName, Outcome: Imported, Origin: originOf("job", j.ID, j.JobName)}
	e.Job = im.base(&e, &j.about, name, j.JobName, j.JobDescription)
	e.Job.Overlap = overlapOf(j.MaxInstanceNum)
	e.Job.Params = foreign.Params(j.JobParams)
	e.Job.Timeout = milliseconds(j.InstanceTimeLimit)
	if n := max(j.InstanceRetryNum, j.TaskRetryNum); n > 0 {
		e.Job.Retry = job.Retry{Limit: int(min(n, math.MaxInt32)), Backoff: job.BackoffConstant, Delay: job.Duration(retryDelay)}
	}
	switch j.ExecuteType {
	case "", "STANDALONE", "1":
	case "BROADCAST", "2":
		e.Job.Route = job.RouteBroadcast
	case "MAP_REDUCE", "3", "MAP", "4":
		e.note("was done as %s, whose tasks its processor makes: give the job a map, and have the handler do one item", j.ExecuteType)
	default:
		e.note("executeType %q is not known and was left out", j.ExecuteType)
	}
	if j.DesignatedWorkers != "" {
		e.note("ran on the workers %s only: give these executors a label, and the job the same in labels", j.DesignatedWorkers)
	}
	im.task(&e, j)
	settle(&e)
	return e
}

// task fills in what the job does.
func (im *importer) task(e *Entry, j *jobInfo) {
	script := func(language, source string) {
		e.Job.Task = job.Task{Script: &job.Script{Language: language, Source: strings.ReplaceAll(source, "\r\n", "\n")}}
	}
	info := strings.TrimSpace(j.ProcessorInfo)
	own, isOwn := strings.CutPrefix(info, official)
	switch {
	case info == "":
		e.leave(Broken, "processorInfo is missing: it names no processor")
	case j.ProcessorType == "SHELL" || j.ProcessorType == "2":
		script("shell", j.ProcessorInfo)
	case j.ProcessorType == "PYTHON" || j.ProcessorType == "3":
		script("python", j.ProcessorInfo)
	case strings.HasSuffix(own, ".ShellProcessor") && isOwn:
		script("shell", j.JobParams)
		e.Job.Params = nil
	case strings.HasSuffix(own, ".PythonProcessor") && isOwn:
		script("python", j.JobParams)
		e.Job.Params = nil
	case j.ProcessorType == "EXTERNAL" || j.ProcessorType == "4":
		_, class, _ := strings.Cut(info, "#")
		e.Job.Task.Handler = cmp.Or(class, info)
		e.note("was in a container of PowerJob: build it into an executor, as handler %s", e.Job.Task.Handler)
	default:
		e.Job.Task.Handler = info
		if isOwn {
			e.note("has a processor of PowerJob itself: write a handler of that name, or another task")
		}
	}
}

// base returns what jobs and workflows have in common.
func (im *importer) base(e *Entry, a *about, name job.Name, title, description string) job.Job {
	j := job.Job{Job: name, Title: foreign.Line(title, job.MaxTitle), Description: description, Tags: []string{Tag}}
	j.Schedule = im.schedule(e, a)
	if j.Schedule.Kind() != job.KindManual {
		j.Misfire = job.Misfire{Policy: job.FireOnce}
		j.Paused = a.disabled()
	}
	if n := len(a.NotifyUserIDs); n > len("[]") && string(a.NotifyUserIDs) != "null" {
		e.note("its failures were told to users of PowerJob: create an alert rule for that")
	}
	return j
}

// schedule returns when a job fires. One that cannot be read makes the entry broken once it is settled.
func (im *importer) schedule(e *Entry, a *about) (s job.Schedule) {
	interval := func() job.Duration {
		n, err := strconv.ParseInt(strings.TrimSpace(a.TimeExpression), 10, 64)
		if err != nil || n <= 0 {
			e.leave(Broken, "timeExpression %q must be a number of milliseconds", clip.Text(a.TimeExpression, maxQuoted))
		}
		return milliseconds(number(n))
	}
	switch a.TimeExpressionType {
	case "CRON", "2":
		s = job.Schedule{Cron: strings.TrimSpace(a.TimeExpression), Zone: im.options.Zone}
	case "FIXED_RATE", "FIX_RATE", "3":
		s = job.Schedule{FixedRate: interval()}
	case "FIXED_DELAY", "FIX_DELAY", "4":
		s = job.Schedule{FixedDelay: interval()}
	case "", "API", "1", "WORKFLOW", "5":
		return s
	default:
		e.leave(Broken, "timeExpressionType %s is not imported: create the job with a cron expression instead of %s", a.TimeExpressionType, a.TimeExpression)
		return s
	}
	var life struct{ Start, End number }
	text := a.LifeCycle
	if bytes.HasPrefix(text, []byte(`"`)) { // some answers have it as text
		var inner string
		if json.Unmarshal(text, &inner) == nil {
			text = json.RawMessage(inner)
		}
	}
	if len(text) > 0 && json.Unmarshal(text, &life) != nil {
		e.note("lifeCycle is not an object with start and end, and was left out")
	}
	instant := func(ms number) *time.Time {
		if ms <= 0 {
			return nil
		}
		t := time.UnixMilli(int64(ms)).UTC()
		return &t
	}
	s.From, s.Until = instant(life.Start), instant(life.End)
	return s
}

// overlapOf returns what a greatest number of instances becomes. PowerJob fails those that are too many.
func overlapOf(most number) job.Overlap {
	switch {
	case most <= 0:
		return job.Overlap{Policy: job.OverlapAllow}
	case most == 1:
		return job.Overlap{Policy: job.OverlapSkip}
	}
	return job.Overlap{Policy: job.OverlapSkip, Limit: int(min(most, math.MaxInt32))}
}

func milliseconds(n number) job.Duration {
	if n < 0 || n > number(job.MaxInterval/time.Millisecond) {
		return job.Duration(math.MaxInt64) // no field may have it, so that the job is broken
	}
	return job.Duration(time.Duration(n) * time.Millisecond)
}

func originOf(what string, id number, title string) string {
	if id == 0 {
		return originPrefix + what + " " + foreign.Line(title, job.MaxTitle)
	}
	return fmt.Sprintf("%s%s %d", originPrefix, what, id)
}

// settle checks a job that was made, and has the entry say what is wrong with it.
func settle(e *Entry) {
	if e.Outcome != Imported {
		e.Job, e.Notes = job.Job{}, e.Notes[:1] // why; the rest is about a job that there is not
		return
	}
	if problems := job.Problems(e.Job.Validate()); len(problems) > 0 {
		e.leave(Broken, "%v", problems[0])
	}
}
