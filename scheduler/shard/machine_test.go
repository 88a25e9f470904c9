package shard_test

import (
	"testing"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/scheduler/shard"
)

var epoch = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func TestAFireBecomesOneTriggerInOneBatchWithCursorAndRecord(t *testing.T) {
	m := shard.New(shard.Config{Shard: 3, Epoch: 7, Node: "n", Planner: &job.Planner{}}, &bus.Cursor{Shard: 3, Done: epoch}, 0)
	v := &job.Version{Job: job.Job{Job: "g/a", Schedule: job.Schedule{Cron: "* * * * *"}, Task: job.Task{Shell: "true"}}.WithDefaults(), Version: 1, EffectiveFrom: epoch}
	if err := m.PutVersion(v); err != nil {
		t.Fatal(err)
	}
	if at, _ := m.NextAt(); at != epoch.Add(30*time.Second).UnixMilli() {
		t.Errorf("next at %v", time.UnixMilli(at).UTC())
	}
	if b := m.Step(epoch.Add(5*time.Second).UnixMilli(), bus.MaxBatch); b != nil {
		t.Errorf("batch before anything is due: %+v", b)
	}
	b := m.Step(epoch.Add(time.Minute).UnixMilli(), bus.MaxBatch)
	if b == nil || len(b.Messages) != 3 || b.Triggers != 1 {
		t.Fatalf("batch %+v", b)
	}
	for _, msg := range b.Messages {
		t.Log(msg.Subject, string(msg.Data))
	}
	m.Committed(10)
	if b := m.Step(epoch.Add(time.Minute).UnixMilli(), bus.MaxBatch); b != nil {
		t.Errorf("second batch for the same instant: %+v", b)
	}
}
