package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/client"
	"carillon/job"
)

func drawJobs(t *table, page client.JobPage) {
	if len(page.Items) == 0 {
		t.line("no jobs")
		return
	}
	t.row("JOB", "SCHEDULE", "NEXT FIRE", "LAST RUN", "STATUS")
	for _, item := range page.Items {
		fireTime, status := "-", "-"
		if len(item.LastRuns) > 0 {
			fireTime, status = instant(item.LastRuns[0].FireTime), string(item.LastRuns[0].Status)
		}
		t.row(string(item.Definition.Job.Job), t.cell(item.Definition.Schedule.String(), 40), nextFire(item), fireTime, status)
	}
	if page.Next != "" {
		t.line(fmt.Sprintf("and %d more", page.Total-len(page.Items)))
	}
}

// drawHold says that nothing fires, if that is so.
func drawHold(t *table, h client.Hold) {
	if h.Paused {
		why := ""
		if h.Note != "" {
			why = ": " + t.cell(h.Note, noteWidth)
		}
		until := ""
		if !h.Until.IsZero() {
			until = " until " + instant(h.Until)
		}
		t.line("all jobs are paused since " + instant(h.EffectiveFrom) + until + by(h.Author) + why)
	}
}

// nextFire returns when the job runs next by its schedule. Fires that are skipped are not
// meant; where all are that are known, it says since when.
func nextFire(item client.JobItem) string {
	switch paused := whenPaused(&item.Definition.Job, time.Now()); {
	case paused != "":
		return paused
	case len(item.NextFires) == 0:
		return "-"
	}
	for _, f := range item.NextFires {
		if !f.Skipped {
			return instant(f.FireTime)
		}
	}
	return "skipped from " + instant(item.NextFires[0].FireTime)
}

// whenPaused says that a job is paused, and until when, if it is.
func whenPaused(j *job.Job, now time.Time) string {
	switch {
	case j.Paused:
		return "paused"
	case j.PausedAt(now):
		return "paused until " + instant(*j.PausedUntil)
	default:
		return ""
	}
}

func drawJob(t *table, item client.JobItem) {
	d := item.Definition
	t.row("job", string(d.Job.Job))
	t.row("version", fmt.Sprintf("%d, since %s%s", d.Version, instant(d.EffectiveFrom), by(d.Author)))
	for _, about := range []struct{ name, text string }{
		{"title", d.Title}, {"description", d.Description}, {"owner", d.Owner}, {"tags", strings.Join(d.Tags, ", ")},
	} {
		if about.text != "" {
			t.row(about.name, t.cell(about.text, 200))
		}
	}
	t.row("schedule", t.cell(d.Schedule.String(), 200))
	if paused := whenPaused(&d.Job, time.Now()); paused != "" {
		t.row("state", paused)
	}
	t.row("misfire", fmt.Sprintf("%s after %s", d.Misfire.Policy, d.Misfire.Grace))
	t.row("delivery", string(d.Delivery))
	if d.Priority != job.PriorityNormal {
		t.row("priority", string(d.Priority))
	}
	drawReactions(t, &d.Job)
	t.row("task", d.Task.Kind()+": "+t.cell(taskText(d.Task), 200))
	for _, w := range item.Warnings {
		t.row("warning", t.cell(w.Field+": "+w.Reason, 300))
	}
	if len(item.NextFires) > 0 {
		t.line("")
		t.row("NEXT FIRES", "")
		for _, f := range item.NextFires {
			note := ""
			if f.Skipped {
				note = "skipped: " + t.cell(f.Reason, noteWidth)
			}
			t.row(instant(f.FireTime), note)
		}
	}
	if len(item.LastRuns) > 0 {
		t.line("")
		drawRunRows(t, item.LastRuns)
	}
}

// drawReactions tells what else happens when a run begins or ends, where that is not
// nothing.
func drawReactions(t *table, d *job.Job) {
	if o := d.Overlap; !o.Unlimited() {
		t.row("overlap", fmt.Sprintf("%s beyond %d", o.Policy, o.Limit))
	}
	if r := d.Retry; r.Limit > 0 {
		t.row("retry", fmt.Sprintf("%d more, %s from %s", r.Limit, r.Backoff, r.Delay))
	}
	for _, c := range d.Children {
		t.row("child", fmt.Sprintf("%s on %s", c.Job, c.On))
	}
	for _, parent := range d.Join {
		t.row("waits for", string(parent))
	}
	limits := []struct {
		name string
		job.Duration
	}{{"timeout", d.Timeout}, {"total timeout", d.TotalTimeout}, {"warn after", d.WarnAfter}, {"kill grace", d.KillGrace}, {"start within", d.StartWithin}}
	for _, l := range limits {
		if l.Duration > 0 {
			t.row(l.name, l.String())
		}
	}
	if d.PauseAfter > 0 {
		t.row("pause after", fmt.Sprintf("%d failures in a row", d.PauseAfter))
	}
}

func by(author string) string {
	if author == "" {
		return ""
	}
	return " by " + cell(author, 60)
}

func taskText(k job.Task) string {
	switch {
	case k.Handler != "":
		return k.Handler
	case k.Shell != "":
		return k.Shell
	case k.HTTP != nil:
		return k.HTTP.Verb() + " " + k.HTTP.URL
	case k.Script != nil && k.Script.Source == "":
		return k.Script.Language + " " + k.Script.Digest
	case k.Script != nil:
		return k.Script.Language + " " + k.Script.Source
	}
	return strings.Join(k.Command, " ")
}

func drawRuns(t *table, page client.RunPage) {
	if len(page.Items) == 0 {
		t.line("no runs")
		return
	}
	drawRunRows(t, page.Items)
	if page.Next != "" {
		t.line("and more; show them with --limit")
	}
}

func drawRunRows(t *table, runs []client.Run) {
	t.row("RUN", "JOB", "STATUS", "CAUSE", "FIRE TIME", "TOOK", "NOTE")
	for _, run := range runs {
		t.row(string(run.RunID), string(run.Job), shownStatus(run), string(run.Cause),
			instant(run.FireTime), took(run.StartedAt, run.FinishedAt), t.cell(runNote(run), noteWidth))
	}
}

// runNote tells what is out of the ordinary about a run.
func runNote(run client.Run) string {
	var notes []string
	if run.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", run.Attempt))
	}
	if run.Total > 0 && run.Piece == 0 {
		notes = append(notes, countOf(run.Total, "piece"))
	}
	if run.Count > 1 {
		notes = append(notes, fmt.Sprintf("%d fires until %s", run.Count, instant(run.Until)))
	}
	if run.Status == job.StatusRunning && (run.Progress > 0 || run.ProgressText != "") {
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("%.0f %% %s", run.Progress, run.ProgressText)))
	}
	for _, text := range []string{run.Reason, run.Message} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	return strings.Join(notes, "; ")
}

// latenessOf tells how long after the fire time the stages of a first attempt were, as far
// as they are known.
func latenessOf(run client.Run) string {
	if run.Attempt != 1 {
		return ""
	}
	var stages []string
	for _, s := range []struct {
		at    time.Time
		stage string
	}{{run.CommittedAt, "to commit"}, {run.DeliveredAt, "to deliver"}, {run.StartedAt, "to start"}} {
		if !s.at.IsZero() {
			stages = append(stages, took(run.FireTime, s.at)+" "+s.stage)
		}
	}
	return strings.Join(stages, ", ")
}

func drawRun(t *table, run client.RunDetail, k kin) {
	t.row("run", string(run.RunID))
	t.row("job", string(run.Job))
	t.row("status", string(run.Status))
	if m := run.Mark; m != nil {
		t.row("marked", string(m.As)+by(m.By)+" at "+instant(m.At)+": "+t.cell(m.Note, 300))
	}
	if run.RetryOf != "" {
		t.row("rerun of", string(run.RetryOf))
	}
	if len(run.Params) > 0 {
		t.row("params", t.cell(string(run.Params), 300))
	}
	if len(run.Labels) > 0 {
		t.row("labels", run.Labels.String())
	}
	for _, a := range run.Attempts {
		t.line("")
		t.row(fmt.Sprintf("attempt %d", a.Attempt), shownStatus(a))
		t.row("cause", string(a.Cause)+by(a.By))
		t.row("fire time", instant(a.FireTime))
		t.row("started", instant(a.StartedAt))
		t.row("finished", instant(a.FinishedAt))
		t.row("took", took(a.StartedAt, a.FinishedAt))
		if late := latenessOf(a); late != "" {
			t.row("late by", late)
		}
		t.row("instance", t.cell(a.Instance, 100))
		if a.ExitCode != nil {
			t.row("exit code", strconv.Itoa(*a.ExitCode))
		}
		a.Attempt = 0 // the heading says it
		if note := runNote(a); note != "" {
			t.row("note", t.cell(note, 300))
		}
		if len(a.Result) > 0 {
			t.row("result", t.cell(string(a.Result), 300))
		}
		t.row("log lines", strconv.Itoa(a.LogLines))
	}
	drawKin(t, k)
	if len(run.Changes) == 0 {
		return
	}
	t.line("")
	t.row("AT", "ATTEMPT", "WHAT", "STATUS", "INSTANCE", "DETAIL")
	for _, c := range run.Changes {
		what := string(c.Kind)
		if c.Mark != "" {
			what += " " + string(c.Mark) + by(c.By)
		}
		t.row(instant(c.At), strconv.Itoa(c.Attempt), what, orDash(string(c.Status)), t.cell(c.Instance, 40), t.cell(c.Detail, 300))
	}
}

func drawNodes(t *table, nodes client.NodeList) {
	if len(nodes.Items) > 0 {
		t.row("NODE", "SHARDS", "WHICH")
	}
	for _, n := range nodes.Items {
		t.row(t.cell(n.Node, 60), strconv.Itoa(len(n.Shards)), orDash(ranges(n.Shards)))
	}
	if len(nodes.Items) == 0 {
		t.line("no nodes; nothing fires until you start a server")
	}
	if len(nodes.Unowned) > 0 {
		t.line(fmt.Sprintf("%d of %d shards have no owner at the moment: %s", len(nodes.Unowned), nodes.Shards, ranges(nodes.Unowned)))
	}
}

// ranges shortens sorted numbers: "0-3,7".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

func drawGroups(t *table, groups client.GroupList) {
	if len(groups.Items) == 0 {
		t.line("no executor groups; start an executor")
		return
	}
	t.row("GROUP", "STATE", "INSTANCE", "BUSY", "RUNS", "LABELS", "VERSION", "HOST", "LOAD", "LAST SEEN")
	for _, g := range groups.Items {
		if len(g.Instances) == 0 {
			t.row(g.ExecutorGroup, string(g.State), "-", "-", "-", "-", "-", "-", "-", "-")
		}
		for _, i := range g.Instances {
			kinds := i.Kinds
			if len(i.Handlers) > 0 {
				kinds = append(slices.Clip(kinds), fmt.Sprintf("%d handlers", len(i.Handlers)))
			}
			t.row(g.ExecutorGroup, string(i.State), t.cell(i.Instance, 40), fmt.Sprintf("%d/%d", i.Running, i.Slots),
				t.cell(strings.Join(kinds, ", "), 40), t.cell(cmp.Or(i.Labels.String(), "-"), 40), t.cell(i.Version, 20), t.cell(i.Host, 30), hostLoad(i.Load), instant(i.At))
		}
	}
	for _, g := range groups.Items {
		for _, i := range g.Instances {
			if i.Reason != "" {
				t.line(fmt.Sprintf("instance %s of group %s: %s", i.Instance, g.ExecutorGroup, i.Reason))
			}
		}
		if g.Suspended != "" {
			t.line(fmt.Sprintf("group %s: %s", g.ExecutorGroup, g.Suspended))
		}
		if g.Limit > 0 || g.Rate > 0 {
			t.line(fmt.Sprintf("group %s %s; %s", g.ExecutorGroup, groupLimits(g), countOf(g.Waiting, "run")+" waiting"))
		}
	}
}

func drawHandlers(t *table, handlers client.HandlerList) {
	if len(handlers.Items) == 0 {
		t.line("no handlers; executors announce the handlers that they register")
		return
	}
	t.row("HANDLER", "INSTANCES", "PARAMS", "DESCRIPTION")
	for _, h := range handlers.Items {
		here := "none online"
		if len(h.Instances) > 0 {
			here = strconv.Itoa(len(h.Instances))
		}
		t.row(t.cell(h.Handler, 40), here, t.cell(paramsOf(h.ParamsSchema), 60), t.cell(h.Description, noteWidth))
	}
}

// paramsOf returns a schema in a few words: the fields of an object with their types,
// or the type alone.
func paramsOf(schema json.RawMessage) string {
	var s struct {
		Type       any `json:"type"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return "?"
	}
	kind := func(t any) string {
		switch t := t.(type) {
		case string:
			return t
		case []any:
			var all []string
			for _, one := range t {
				all = append(all, fmt.Sprint(one))
			}
			return strings.Join(all, " or ")
		}
		return "any"
	}
	if len(s.Properties) == 0 {
		return kind(s.Type)
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, name+" "+kind(s.Properties[name].Type))
	}
	return strings.Join(fields, ", ")
}

// hostLoad tells the processes that want a CPU, for each that there is.
func hostLoad(l *client.HostLoad) string {
	if l == nil || l.CPUs == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*l.Load1/float64(l.CPUs))
}

func drawCalendars(t *table, calendars client.CalendarList) {
	if len(calendars.Items) == 0 {
		t.line("no calendars")
		return
	}
	t.row("CALENDAR", "ZONE", "DATES", "WINDOWS", "DESCRIPTION")
	for _, c := range calendars.Items {
		d := c.Definition
		t.row(d.Calendar.Calendar, d.Zone, strconv.Itoa(len(d.Dates)), strconv.Itoa(len(d.Windows)), t.cell(d.Description, noteWidth))
	}
}
