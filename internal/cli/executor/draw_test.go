package executor

import (
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/draw/drawtest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func someGroups() client.GroupList {
	return client.GroupList{Items: []client.Group{
		{ExecutorGroup: "ops", State: client.GroupStateOnline, Instances: []client.Instance{
			{Instance: "a1", State: fleet.InstanceOnline, Kinds: []string{"command", "shell"}, Slots: 8, Running: 2, Labels: job.Labels{"zone": "eu", "gpu": "true"}, Load: &fleet.HostLoad{CPUs: 4, Load1: 5, MemoryBytes: 8 << 30, MemoryUsed: 2 << 30}, SDK: "carillon-go/1.0", StartedAt: drawtest.At("01:00:00.000"), Version: "1.0", Host: "alpha", At: drawtest.At("03:00:00.000")},
			{Instance: "b1", State: fleet.InstanceDraining, Kinds: []string{"handler"}, Handlers: []string{"x", "y"}, Slots: 100, Running: 17, Version: "1.1", Host: "beta", At: drawtest.At("03:00:04.000"), Refused: 3, Refusal: &fleet.Refusal{Stream: "EVT", Sequence: 17, Subject: "evt.3.ops", Reason: "attempt: 0 must be 1 or more", At: drawtest.At("03:00:03.000")}},
		}},
		{ExecutorGroup: "billing", State: client.GroupStateEmpty, Pause: &job.Pause{
			Paused: true, EffectiveFrom: drawtest.At("02:00:00.000"), Until: drawtest.At("05:00:00.000"), Author: "ann", Note: "the database moves",
		}},
		{ExecutorGroup: "mails", State: client.GroupStateEmpty, Limit: 20, Rate: 0.5, Waiting: 3, WaitingRuns: new(12), WaitingSince: drawtest.At("02:30:00.000")},
		{ExecutorGroup: "idle", State: client.GroupStateEmpty, Limit: 20, Waiting: 3, WaitingRuns: new(0)},
		{ExecutorGroup: "unknown", State: client.GroupStateEmpty, Rate: 5, Waiting: 1},
	}}
}

func TestGroupsOfExecutorsAreDrawn(t *testing.T) {
	drawtest.Golden(t, "groups", func(tab *draw.Table) { drawGroups(tab, someGroups()) })
	drawtest.Wide(t, "groups-wide", func(tab *draw.Table) { drawGroups(tab, someGroups()) })
	drawtest.Golden(t, "groups-empty", func(tab *draw.Table) { drawGroups(tab, client.GroupList{}) })
}

func TestHandlersAreDrawn(t *testing.T) {
	handlers := client.HandlerList{Items: []client.HandlerItem{
		{Handler: "invoice", Instances: []string{"a1", "b1"}, Description: "Sends the invoices of a month"},
		{Handler: "remind"},
	}}
	drawtest.Golden(t, "handlers", func(tab *draw.Table) { drawHandlers(tab, handlers) })
	drawtest.Wide(t, "handlers-wide", func(tab *draw.Table) { drawHandlers(tab, handlers) })
}
