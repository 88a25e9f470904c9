package xxljob

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// grace is how late XXL-JOB lets a fire be before it is a misfire.
const grace = 5 * time.Second

// Tag is given to each imported job, so that people find the jobs that they have moved.
const Tag = "xxl-job"

// failureScan is how often XXL-JOB looks for runs to repeat.
const failureScan = 10 * time.Second

// importer is what the rows before say about the next.
type importer struct {
	options Options
	groups  map[string]row // of xxl_job_group, by id
	// appNames are those that become a group.
	appNames map[string][]string
	names    map[job.Name]bool // that are taken
}

// convert makes a job of a row, all but for its children.
func (im *importer) convert(e *Entry) {
	r := e.row
	executor, known := im.groups[r.get("job_group")]
	group := cmp.Or(GroupOf(executor.get("app_name")), im.options.Group)
	if group == "" {
		e.Outcome = Broken
		if e.Note = refusal.NoExecutorRow.With(r.get("job_group"), groupTable); known {
			e.Note = refusal.AppNameNoGroup.With(r.get("job_group"), executor.get("app_name"))
		}
		return
	}
	kind := r.get("glue_type")
	task, notes, ok := taskOf(kind, r)
	if !ok {
		e.Outcome, e.Note = Skipped, notes[0]
		return
	}
	notes = append(notes, im.notesOn(executor, group)...)
	e.Outcome = Imported
	schedule, misfire := scheduleOf(r, im.options.Zone)
	j := job.Job{
		Job:      im.nameFor(group, e, task),
		Title:    foreign.Line(e.Title, job.MaxTitle),
		Owner:    foreign.Line(r.get("author"), job.MaxOwner),
		Tags:     []string{Tag},
		Schedule: schedule,
		Paused:   r.get("trigger_status") == "0" && schedule.Kind() != job.KindManual,
		Misfire:  misfire,
		Task:     task,
		Params:   foreign.Params(r.values["executor_param"]),
	}
	if j.Title != e.Title {
		j.Description = e.Title // it is longer than a title may be, or several lines
	}
	number := func(column string) int {
		text := r.get(column)
		n, err := strconv.Atoi(text)
		if err != nil && text != "" {
			notes, e.Unread = append(notes, refusal.NoNumber.With(column, text)), append(e.Unread, column)
		}
		return max(n, 0)
	}
	j.Timeout = job.Duration(time.Duration(number("executor_timeout")) * time.Second)
	if n := number("executor_fail_retry_count"); n > 0 {
		j.Retry = job.Retry{Limit: n, Backoff: job.BackoffConstant, Delay: job.Duration(failureScan)}
	}
	take := func(column string, known map[string]string) string {
		text := r.get(column)
		word, ok := known[text]
		if !ok && text != "" {
			notes, e.Unread = append(notes, refusal.ValueUnknown.With(column, text)), append(e.Unread, column)
		}
		return word
	}
	j.Route = job.Route(take("executor_route_strategy", routes))
	j.Overlap.Policy = job.OverlapPolicy(take("executor_block_strategy", overlaps))
	j.StartWithin = startWithin(schedule, j.Job)
	if to := r.get("alarm_email"); to != "" {
		notes = append(notes, refusal.WasMailed.With(to))
	}
	e.Note, e.Job = reason.Join(notes...), j
}

// notesOn returns what one should know of the executors of a job.
func (im *importer) notesOn(executor row, group string) (notes []string) {
	if names := im.appNames[group]; len(names) > 1 {
		notes = append(notes, refusal.AppNamesOneGroup.With(strings.Join(names, ", "), group))
	}
	if list := executor.get("address_list"); executor.get("address_type") == "1" && list != "" {
		notes = append(notes, refusal.AddressesByHand.With(strings.ReplaceAll(list, ";", ",")))
	}
	if executor.get("access_token") != "" {
		notes = append(notes, refusal.OwnAccessToken.With(executor.get("app_name")))
	}
	return notes
}

// How long a run waits for an executor: until the next fire, between these.
const (
	minStartWithin = 10 * time.Second
	maxStartWithin = 10 * time.Minute
)

// startWithin returns how long a run of an imported job waits until it begins. XXL-JOB fails a run at once
// for which there is no executor. If each waited, all would begin together once there is one.
func startWithin(s job.Schedule, name job.Name) job.Duration {
	between := maxStartWithin
	switch table, err := s.Compile(name); {
	case err != nil, s.Kind() == job.KindManual:
	case s.Kind() == job.KindFixedDelay:
		between = min(between, s.FixedDelay.Std())
	case s.Kind() == job.KindFixedRate:
		between = min(between, s.FixedRate.Std())
	default:
		// A year that does not change the clocks, and leap days as any other.
		at := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		for last, n := int64(0), 0; n < 100; n++ {
			next, ok := table.Next(at)
			if !ok {
				break
			}
			if last != 0 {
				between = min(between, time.Duration(next-last)*time.Millisecond)
			}
			last, at = next, next
		}
	}
	return job.Duration(max(between, minStartWithin))
}

// routes and overlaps are XXL-JOB's words for what we have words for.
var (
	routes = map[string]string{
		"FIRST": "first", "LAST": "last", "ROUND": "round_robin", "RANDOM": "random", "CONSISTENT_HASH": "consistent_hash",
		"LEAST_FREQUENTLY_USED": "least_frequently_used", "LEAST_RECENTLY_USED": "least_recently_used",
		"FAILOVER": "failover", "BUSYOVER": "busyover", "SHARDING_BROADCAST": "broadcast",
	}
	overlaps = map[string]string{"SERIAL_EXECUTION": "queue", "DISCARD_LATER": "skip", "COVER_EARLY": "replace"}
	scripts  = map[string]string{
		"GLUE_SHELL": "shell", "GLUE_PYTHON": "python", "GLUE_PYTHON2": "python",
		"GLUE_NODEJS": "node", "GLUE_PHP": "php", "GLUE_POWERSHELL": "powershell",
		"GLUE_GROOVY": "groovy",
	}
)

// taskOf returns what a job does, and what one should know of it. It is not ok if we cannot do it;
// the only note then says why.
func taskOf(kind string, r row) (task job.Task, notes []string, ok bool) {
	switch language := scripts[kind]; {
	case kind == "BEAN" && r.get("executor_handler") == "":
		return task, []string{refusal.NamesNoHandler.String()}, false
	case kind == "BEAN":
		return job.Task{Handler: r.get("executor_handler")}, nil, true
	case language == "":
		return task, []string{refusal.GlueUnknown.With(kind)}, false
	default:
		switch kind {
		case "GLUE_PYTHON2":
			notes = append(notes, refusal.Python2.String())
		case "GLUE_GROOVY":
			notes = append(notes, refusal.GlueJava.String())
		}
		source := strings.ReplaceAll(r.values["glue_source"], "\r\n", "\n")
		return job.Task{Script: &job.Script{Language: language, Source: source}}, notes, true
	}
}

// scheduleOf returns when a job fires, and what becomes of fires that are late. Before version 2.3 there
// was only cron, and late fires were dropped.
func scheduleOf(r row, zone string) (job.Schedule, job.Misfire) {
	misfire := job.Misfire{Policy: job.MisfireSkip, Grace: job.Duration(grace)}
	if r.get("misfire_strategy") == "FIRE_ONCE_NOW" {
		misfire.Policy = job.FireOnce
	}
	expression := r.get("job_cron")
	conf := r.get("schedule_conf")
	switch r.get("schedule_type") {
	case "CRON":
		expression = conf
	case "FIX_RATE":
		return job.Schedule{FixedRate: seconds(conf)}, misfire
	case "FIX_DELAY":
		return job.Schedule{FixedDelay: seconds(conf)}, misfire
	}
	if expression == "" {
		return job.Schedule{}, job.Misfire{}
	}
	return job.Schedule{Cron: expression, Zone: zone}, misfire
}

// seconds returns a length that is written as a number of seconds. What is none becomes one that no
// schedule may have, so that the job is broken and not one that nobody ever runs.
func seconds(text string) job.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > int(job.MaxInterval/time.Second) {
		return -1
	}
	return job.Duration(time.Duration(n) * time.Second)
}

// linkChildren gives jobs their children, all of which are known by now. A child that is no
// job here, or that would lead back to the job, is left out, and the note says so. It returns
// which entries have a child that leads back.
func linkChildren(entries []Entry) (looped map[int]bool) {
	looped = map[int]bool{}
	byID := map[string]job.Name{}
	byName := map[job.Name]*Entry{}
	for i := range entries {
		if e := &entries[i]; e.Outcome == Imported {
			byID[strconv.Itoa(e.ID)] = e.Job.Job
			byName[e.Job.Job] = e
		}
	}
	followers := func(name job.Name) []job.Name { return byName[name].Job.Followers() }
	for i := range entries {
		e := &entries[i]
		if e.Outcome != Imported {
			continue
		}
		for _, id := range strings.FieldsFunc(e.row.get("child_jobid"), func(c rune) bool { return c == ',' || c == ' ' }) {
			child := byID[id]
			was := e.Job.Children
			switch e.Job.Children = append(slices.Clone(was), job.Child{Job: child}); {
			case child == "":
				e.leaveOut(refusal.ChildNoJob.With(id), was)
			case slices.Contains(was, job.Child{Job: child}):
				e.Job.Children = was
			case len(was) == job.MaxChildren:
				e.leaveOut(refusal.ChildTooMany.With(id, job.MaxChildren), was)
			case e.Job.Cycle(followers) != nil:
				e.leaveOut(refusal.ChildLoop.With(id), was)
				looped[i] = true
			}
		}
	}
	return looped
}

// leaveOut has a job keep the children that it had, and says why one more is not among them.
func (e *Entry) leaveOut(why string, was []job.Child) {
	e.Job.Children, e.Note = was, reason.Join(e.Note, why)
}
