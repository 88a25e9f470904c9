package main

import (
	"testing"
	"time"

	"carillon/internal/client"
	"carillon/job"
)

func someJobs() client.JobPage {
	fire := func(clock string) []client.Fire { return []client.Fire{{FireTime: at(clock), Due: at(clock)}} }
	item := func(name job.Name, s job.Schedule) client.JobItem {
		return client.JobItem{Definition: job.Version{Job: job.Job{Job: name, Schedule: s, Task: job.Task{Shell: "echo a\necho b"}}.WithDefaults(), Version: 3, EffectiveFrom: at("01:00:00.000"), Author: "ada"}}
	}
	backup := item("ops/backup", job.Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin"})
	backup.NextFires, backup.LastRuns = fire("04:30:00.000"), someRuns()[:2]
	backup.Definition.Description, backup.Definition.Timeout = "Saves everything", job.Duration(90*time.Minute)
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
	golden(t, "jobs", func(tab *table) { drawJobs(tab, someJobs()) })
	golden(t, "job", func(tab *table) {
		item := someJobs().Items[0]
		item.NextFires = append(item.NextFires, client.Fire{FireTime: at("05:00:00.000"), Skipped: true, Reason: "calendar holidays"})
		drawJob(tab, item)
	})
	golden(t, "calendars", func(tab *table) {
		drawCalendars(tab, client.CalendarList{Items: []client.CalendarItem{{Definition: job.CalendarVersion{Calendar: job.Calendar{Calendar: "holidays", Zone: "UTC", Dates: []string{"12-25", "12-26"}, Description: "No work"}}}}})
	})
	golden(t, "jobs-empty", func(tab *table) { drawJobs(tab, client.JobPage{}) })
	golden(t, "calendars-empty", func(tab *table) { drawCalendars(tab, client.CalendarList{}) })
}
