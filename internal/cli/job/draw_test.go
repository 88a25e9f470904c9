package job

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func someJobs() client.JobPage {
	fire := func(clock string) []client.Fire {
		return []client.Fire{{FireTime: drawtest.At(clock), Due: drawtest.At(clock)}}
	}
	item := func(name job.Name, s job.Schedule) client.JobItem {
		return client.JobItem{Definition: job.Version{Job: job.Job{Job: name, Schedule: s, Task: job.Task{Shell: "echo a\necho b"}}.WithDefaults(), Version: 3, EffectiveFrom: drawtest.At("01:00:00.000"), Author: "ada"}}
	}
	backup := item("ops/backup", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin", Only: []string{"business-days"}, Except: []string{"holidays", "freeze"}, Shift: job.ShiftNext})
	backup.NextFires, backup.LastRuns = fire("04:30:00.000"), drawtest.Runs()[:2]
	backup.Definition.Description, backup.Definition.Timeout = "Saves everything", job.Duration(90*time.Minute)
	backup.Definition.Owner, backup.Definition.Tags = "ann", []string{"db", "nightly"}
	backup.Definition.Retry = job.Retry{Limit: 3, Backoff: job.BackoffLinear, Delay: job.Duration(time.Minute), DropStale: true}
	backup.Definition.Target = &job.Target{SuccessRate: 99.5, StartDelay: job.Duration(5 * time.Minute)}
	sweep := item("ops/sweep", job.Schedule{FixedDelay: job.Duration(30 * time.Second)})
	pulse := item("ops/pulse-with-a-rather-long-name", job.Schedule{Cron: "0,5,10,15,20,25,30,35,40,45,50,55 8-18 * * MON-FRI"})
	pulse.Definition.Paused = true
	holiday := item("ops/holiday", job.Schedule{Cron: "0 4 * * *"})
	holiday.NextFires = append(fire("04:00:00.000"), fire("05:00:00.000")...)
	holiday.NextFires[0].Skipped = true
	off := item("ops/off", job.Schedule{Cron: "0 4 * * *"})
	off.NextFires = fire("04:00:00.000")
	off.NextFires[0].Skipped = true
	return client.JobPage{Items: []client.JobItem{backup, sweep, pulse, holiday, off}, Total: 14, Next: "x"}
}

func TestJobsAreDrawn(t *testing.T) {
	drawtest.Golden(t, "jobs", func(tab *draw.Table) { drawJobs(tab, someJobs()) })
	drawtest.Wide(t, "jobs-wide", func(tab *draw.Table) { drawJobs(tab, someJobs()) })
	drawtest.Golden(t, "job", func(tab *draw.Table) {
		item := someJobs().Items[0]
		item.NextFires = append(item.NextFires, client.Fire{FireTime: drawtest.At("05:00:00.000"), Skipped: true, Reason: "calendar holidays"})
		drawJob(tab, item)
	})
	drawtest.Golden(t, "calendars", func(tab *draw.Table) {
		drawCalendars(tab, client.CalendarList{Items: []client.CalendarItem{{Definition: job.CalendarVersion{Calendar: job.Calendar{Calendar: "holidays", Zone: "UTC", Dates: []string{"12-25", "12-26"}, Description: "No work"}}}}})
	})
	drawtest.Golden(t, "jobs-empty", func(tab *draw.Table) { drawJobs(tab, client.JobPage{}) })
	drawtest.Golden(t, "calendars-empty", func(tab *draw.Table) { drawCalendars(tab, client.CalendarList{}) })
}
