package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/client"
	"carillon/internal/manifest"
	"carillon/job"
	"carillon/job/fleet"
	"carillon/job/runlog"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// golden compares what draw makes with testdata/name.golden.
func golden(t *testing.T, name string, draw func(*table)) {
	t.Helper()
	var tab table
	draw(&tab)
	var b strings.Builder
	if err := tab.write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func at(clock string) time.Time {
	t, err := time.Parse("15:04:05.000", clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 2, 0)
}

// someRuns has one run of each kind that looks different.
func someRuns() []client.Run {
	id := func(n string) job.RunID { return job.RunID("019b76da-a800-7c3e-9d5b-0f4e2a6c8b" + n) }
	code := 1
	return []client.Run{
		{RunID: id("01"), Job: "ops/backup", Attempt: 1, Status: job.StatusSucceeded, Cause: job.CauseSchedule, FireTime: at("03:00:00.000"), StartedAt: at("03:00:00.012"), FinishedAt: at("03:04:41.500"), Count: 1, Instance: "a1", LogLines: 7},
		{RunID: id("02"), Job: "ops/report", Attempt: 2, Status: job.StatusFailed, Cause: job.CauseManual, FireTime: at("03:00:01.000"), StartedAt: at("03:00:01.000"), FinishedAt: at("03:00:03.250"), Count: 1, Message: "exit code 1:\x1b[31m no such\nfile, " + strings.Repeat("and so on ", 10), By: "ada", ExitCode: &code},
		{RunID: id("03"), Job: "ops/pulse", Attempt: 1, Status: job.StatusMissed, Cause: job.CauseSchedule, FireTime: at("02:00:00.000"), Count: 360, Until: at("02:59:50.000"), Reason: "noticed too late"},
		{RunID: id("04"), Job: "ops/sweep", Attempt: 1, Status: job.StatusRunning, Cause: job.CauseMisfire, FireTime: at("03:05:00.000"), StartedAt: at("03:05:00.900"), Count: 1, Progress: 40, ProgressText: "file 4 of 10"},
		{RunID: id("05"), Job: "ops/日本", Attempt: 1, Status: job.StatusPending, Cause: job.CauseAPI, FireTime: at("03:06:00.000"), Count: 1},
	}
}

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

func TestTables(t *testing.T) {
	golden(t, "jobs", func(tab *table) { drawJobs(tab, someJobs()) })
	golden(t, "job", func(tab *table) {
		item := someJobs().Items[0]
		item.NextFires = append(item.NextFires, client.Fire{FireTime: at("05:00:00.000"), Skipped: true, Reason: "calendar holidays"})
		drawJob(tab, item)
	})
	golden(t, "runs", func(tab *table) { drawRuns(tab, client.RunPage{Items: someRuns(), Next: "x"}) })
	golden(t, "run", func(tab *table) {
		run := someRuns()[1]
		run.Result = json.RawMessage(`{"rows":12}`)
		drawRun(tab, client.RunDetail{RunID: run.RunID, Job: run.Job, Status: run.Status, Attempts: []client.Run{run}, Changes: []client.Change{
			{At: at("03:00:01.000"), Attempt: 2, Kind: "recorded", Status: job.StatusPending},
			{At: at("03:00:01.500"), Attempt: 2, Kind: "started", Status: job.StatusRunning, Instance: "a1"},
			{At: at("03:00:03.250"), Attempt: 2, Kind: "finished", Status: job.StatusFailed, Instance: "a1", Detail: "exit code 1"},
			{At: at("04:00:00.000"), Attempt: 2, Kind: "marked", Status: job.StatusFailed, Mark: job.MarkSucceeded, By: "ann", Detail: "sent by hand"},
		}, Mark: &client.RunMark{As: job.MarkSucceeded, Note: "sent by hand", By: "ann", At: at("04:00:00.000")}}, kin{})
	})
	golden(t, "run-in-pieces", func(tab *table) {
		first := client.Run{
			CommittedAt: at("03:00:01.005"), DeliveredAt: at("03:00:01.008"),
			RunID: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b06", Job: "ops/rotate", Attempt: 1, Total: 3, Status: job.StatusFailed, Retrying: true, Cause: job.CauseParent,
			FireTime: at("03:00:01.000"), StartedAt: at("03:00:01.010"), FinishedAt: at("03:00:03.250"), Count: 1, Reason: "1 of 3 pieces failed",
		}
		piece := func(index, attempt int, status job.Status) client.Run {
			p := first
			p.Piece, p.Attempt, p.Status, p.Retrying, p.Instance, p.Reason = runlog.PieceAt(index), attempt, status, false, "a1", ""
			return p
		}
		failed := piece(1, 1, job.StatusFailed)
		failed.Retrying, failed.Message = true, "exit code 1"
		list := client.PieceList{Items: []client.Run{piece(0, 1, job.StatusSucceeded), failed}, Total: 3, Counts: client.StatusCounts{job.StatusSucceeded: 1, job.StatusQueued: 1, job.StatusPending: 1}}
		runs := someRuns()
		drawRun(tab, client.RunDetail{RunID: first.RunID, Job: first.Job, Status: job.StatusQueued, Attempts: []client.Run{first}},
			kin{pieces: list, parents: []client.Run{runs[0], {RunID: runs[2].RunID}}, children: client.RunPage{Items: runs[3:], Next: "x"}})
	})
	golden(t, "nodes", func(tab *table) {
		drawNodes(tab, client.NodeList{Shards: 8, Unowned: []int{6}, Items: []client.Node{{Node: "n1", Shards: []int{0, 1, 2, 5}}, {Node: "n2", Shards: []int{3, 4, 7}}, {Node: "new"}}})
	})
	golden(t, "bus", func(tab *table) {
		drawBus(tab, client.BusState{
			Server: "n1", Version: "2.15.2", Cluster: "carillon", Bytes: 3_000_000_000, Durability: fleet.Degraded, Replicas: 3,
			Streams: []fleet.StreamState{
				{Stream: "EVT", Messages: 1234567, Bytes: 2_100_000_000, MaxBytes: 8 << 30, Refuses: true, OldestAt: at("03:00:00.000"), Consumers: 1, Replicas: 3, Leader: "n2", Behind: []string{"n3"}},
				{Stream: "TRIG", Consumers: 3, Replicas: 3},
				{Stream: "JOBS", Bucket: true, Bytes: 1000, Replicas: 3},
			},
			Consumers: []fleet.ConsumerState{{Stream: "TRIG", Consumer: "any-ops", Group: "ops", Waiting: 20000, Unacknowledged: 8, Redelivered: 1}, {Stream: "EVT", Consumer: "ingest"}},
		})
	})
	golden(t, "groups", func(tab *table) {
		drawGroups(tab, client.GroupList{Items: []client.Group{
			{ExecutorGroup: "ops", State: client.GroupStateOnline, Instances: []client.Instance{
				{Instance: "a1", State: fleet.InstanceOnline, Kinds: []string{"command", "shell"}, Slots: 8, Running: 2, Labels: job.Labels{"zone": "eu", "gpu": "true"}, Load: &fleet.HostLoad{CPUs: 4, Load1: 5}, Version: "1.0", Host: "alpha", At: at("03:00:00.000")},
				{Instance: "b1", State: fleet.InstanceDraining, Kinds: []string{"handler"}, Handlers: []string{"x", "y"}, Slots: 100, Running: 17, Version: "1.1", Host: "beta", At: at("03:00:04.000")},
			}},
			{ExecutorGroup: "billing", State: client.GroupStateEmpty},
		}})
	})
	golden(t, "calendars", func(tab *table) {
		drawCalendars(tab, client.CalendarList{Items: []client.CalendarItem{{Definition: job.CalendarVersion{Calendar: job.Calendar{Calendar: "holidays", Zone: "UTC", Dates: []string{"12-25", "12-26"}, Description: "No work"}}}}})
	})
	golden(t, "changes", func(tab *table) {
		drawChanges(tab, []change{
			{Kind: manifest.Calendar, Name: "holidays", Result: created},
			{Kind: manifest.Job, Name: "ops/backup", Result: changed, Fields: []client.FieldChange{
				{Field: "schedule.cron", From: "0 3 * * *", To: "0 4 * * *"}, {Field: "task.env", To: map[string]any{"A": "b"}}, {Field: "timeout", From: "5m"},
			}},
			{Kind: manifest.Job, Name: "ops/pulse", Result: unchanged},
			{Kind: manifest.Job, Name: "ops/old", Result: deleted},
		}, true)
	})
	golden(t, "empty", func(tab *table) {
		drawJobs(tab, client.JobPage{})
		drawRuns(tab, client.RunPage{})
		drawNodes(tab, client.NodeList{Shards: 3, Unowned: []int{0, 1, 2}})
		drawGroups(tab, client.GroupList{})
		drawCalendars(tab, client.CalendarList{})
	})
}

func TestYAMLReadsBackAsTheJSONItWasMadeOf(t *testing.T) {
	for _, text := range []string{
		"plain", "two words", "", " ", "yes", "No", "null", "~", "1", "1.5", "0x10", "12-25", "09:00", "* * * * *", "&a", "!x", "a: b", "a #b", "#a",
		"-", "- a", "a\nb\n", "a\n  b\nc\n", "a\nb", "\na\nb\n", "a \nb\n", "a\n\n\nb\n", "a\tb\n\tc\n", "a\nb\n\n", "x\r\ny\r\n", "\x00\x1b[0m", "日本", "\u2028", "<a & b>", "'", `"`, `\`, "@daily", "%x", "{", "[", "a,b", "|", ">", "---", "...\nb\nc\n", "---\nb\nc\n",
	} {
		document := map[string]any{"job": "ops/a", "params": map[string]any{
			"text": text, "list": []any{text, []any{text, []any{}}, map[string]any{"a": text, "b": []any{map[string]any{text: text}}}}, "map": map[string]any{text + "x": nil, "e": map[string]any{}}, "n": 1.5, "t": true,
		}}
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := writeYAML(&b, data); err != nil {
			t.Fatal(err)
		}
		docs, err := manifest.Parse("x.yaml", []byte(b.String()))
		if err != nil || len(docs) != 1 {
			t.Errorf("%q: %v in\n%s", text, err, b.String())
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(docs[0].JSON, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document, got); diff != "" {
			t.Errorf("%q:\n%s%s", text, b.String(), diff)
		}
	}
}
