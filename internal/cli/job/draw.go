package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/run"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func drawJobs(t *draw.Table, page client.JobPage) {
	if len(page.Items) == 0 {
		t.Line("no jobs")
		return
	}
	row := []string{"JOB", "SCHEDULE", "NEXT FIRE", "LAST RUN", "STATUS"}
	if t.Wide {
		row = append(row, "OWNER", "TAGS", "VERSION", "CHANGED", "TASK")
	}
	t.Row(row...)
	for _, item := range page.Items {
		fireTime, status := "-", "-"
		if len(item.LastRuns) > 0 {
			fireTime, status = t.Instant(item.LastRuns[0].FireTime), string(item.LastRuns[0].Status)
		}
		d := item.Definition
		row := []string{string(d.Job.Job), t.Cell(d.Schedule.String(), 40), nextFire(t, item), fireTime, status}
		if t.Wide { // a script would be a row of thousands of characters
			row = append(row, t.Cell(d.Owner, 40), t.Cell(strings.Join(d.Tags, ","), 40), strconv.Itoa(d.Version), t.Instant(d.EffectiveFrom),
				draw.Text(taskOf(&d.Job), draw.NoteWidth))
		}
		t.Row(row...)
	}
	if page.Next != "" {
		t.Line(fmt.Sprintf("and %d more", page.Total-len(page.Items)))
	}
}

// drawPause says that nothing fires, if that is so.
func drawPause(t *draw.Table, h client.Pause) {
	if h.Paused {
		t.Pause("all jobs have been", h)
	}
}

// nextFire returns when the job runs next by its schedule. Fires that are skipped are not
// meant; where all are that are known, it says since when.
func nextFire(t *draw.Table, item client.JobItem) string {
	switch paused := whenPaused(t, &item.Definition.Job, time.Now()); {
	case paused != "":
		return paused
	case len(item.NextFires) == 0:
		return "-"
	}
	for _, f := range item.NextFires {
		if !f.Skipped {
			return t.Instant(f.FireTime)
		}
	}
	return "skipped from " + t.Instant(item.NextFires[0].FireTime)
}

// whenPaused says that a job is paused, and until when, if it is.
func whenPaused(t *draw.Table, j *job.Job, now time.Time) string {
	switch {
	case j.Paused:
		return "paused"
	case j.PausedAt(now):
		return "paused until " + t.Instant(*j.PausedUntil)
	default:
		return ""
	}
}

func drawJob(t *draw.Table, item client.JobItem) {
	d := item.Definition
	t.Row("job", string(d.Job.Job))
	t.Row("version", fmt.Sprintf("%d, since %s%s", d.Version, t.Instant(d.EffectiveFrom), draw.By(d.Author)))
	for _, about := range []struct{ name, text string }{
		{"title", d.Title}, {"description", d.Description}, {"owner", d.Owner}, {"tags", strings.Join(d.Tags, ", ")},
	} {
		if about.text != "" {
			t.Row(about.name, t.Cell(about.text, 200))
		}
	}
	t.Row("schedule", t.Cell(d.Schedule.String(), 200))
	if calendars := calendarsText(&d.Schedule); calendars != "" {
		t.Row("calendars", t.Cell(calendars, 200))
	}
	if target := targetText(d.Target); target != "" {
		t.Row("target", target)
	}
	if paused := whenPaused(t, &d.Job, time.Now()); paused != "" {
		t.Row("state", paused)
	}
	t.Row("misfire", fmt.Sprintf("%s after %s", d.Misfire.Policy, d.Misfire.Grace))
	t.Row("delivery", string(d.Delivery))
	if d.Priority != job.PriorityNormal {
		t.Row("priority", string(d.Priority))
	}
	drawReactions(t, &d.Job)
	t.Row("task", t.Cell(taskOf(&d.Job), 200))
	for _, w := range item.Warnings {
		t.Row("warning", t.Cell(w.Field+": "+string(w.Reason), 300))
	}
	drawSteps(t, d.Steps)
	if len(item.NextFires) > 0 {
		t.Line("")
		t.Row("NEXT FIRES", "")
		for _, f := range item.NextFires {
			note := ""
			if f.Skipped {
				note = "skipped: " + t.Cell(string(f.Reason), draw.NoteWidth)
			}
			t.Row(t.Instant(f.FireTime), note)
		}
	}
	if len(item.LastRuns) > 0 {
		t.Line("")
		run.DrawRows(t, item.LastRuns)
	}
}

// drawReactions tells what else happens when a run begins or ends, where that is not
// nothing.
func drawReactions(t *draw.Table, d *job.Job) {
	if o := d.Overlap; !o.Unlimited() {
		text := fmt.Sprintf("%s beyond %d", o.Policy, o.Limit)
		if o.Key != "" {
			text += " of the same " + o.Key
		}
		if o.Total > 0 {
			text += fmt.Sprintf(", or %d in all", o.Total)
		}
		t.Row("overlap", text)
	}
	if r := d.Retry; r.Limit > 0 {
		text := fmt.Sprintf("%d more, %s from %s", r.Limit, r.Backoff, r.Delay)
		if r.DropStale {
			text += ", none once the run of a later fire has succeeded"
		}
		t.Row("retry", text)
	}
	for _, c := range d.Children {
		t.Row("child", fmt.Sprintf("%s on %s", c.Job, c.On))
	}
	limits := []struct {
		name string
		job.Duration
	}{{"timeout", d.Timeout}, {"total timeout", d.TotalTimeout}, {"warn after", d.WarnAfter}, {"kill grace", d.KillGrace}, {"start within", d.StartWithin}}
	for _, l := range limits {
		if l.Duration > 0 {
			t.Row(l.name, l.String())
		}
	}
	if d.MaxDeliveries > 0 {
		t.Row("max deliveries", strconv.Itoa(d.MaxDeliveries))
	}
	if d.OnFailure != "" {
		t.Row("on failure", string(d.OnFailure))
	}
	if d.PauseAfter > 0 {
		t.Row("pause after", fmt.Sprintf("%d failures in a row", d.PauseAfter))
	}
}

// calendarsText says which calendars a schedule has, and where it moves a fire that they exclude.
func calendarsText(s *job.Schedule) string {
	var parts []string
	for _, part := range []struct{ name, text string }{
		{"only", strings.Join(s.Only, ", ")}, {"except", strings.Join(s.Except, ", ")}, {"shift", string(s.Shift)},
	} {
		if part.text != "" {
			parts = append(parts, part.name+" "+part.text)
		}
	}
	return strings.Join(parts, "; ")
}

func targetText(t *job.Target) string {
	if t == nil {
		return ""
	}
	var parts []string
	if t.SuccessRate > 0 {
		parts = append(parts, strconv.FormatFloat(t.SuccessRate, 'f', -1, 64)+" % of runs succeed")
	}
	if t.StartDelay > 0 {
		parts = append(parts, "95 % start within "+t.StartDelay.String())
	}
	return strings.Join(parts, ", ")
}
