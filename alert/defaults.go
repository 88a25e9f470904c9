package alert

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// defaultAuthor is who the rules are by that are there from the start.
const defaultAuthor = "carillon"

// Defaults returns the rules that a cluster has from the start: about what must not go
// unnoticed before anybody has thought of a rule. They have no channels, so their incidents
// are in lists only until somebody adds some. They are rules as any other: whoever deletes
// one does not get it again.
func Defaults() []alerting.Rule {
	return []alerting.Rule{
		{
			Alert: "dead-letters", Severity: alerting.Warning, When: alerting.Condition{DeadLetters: true}, GroupBy: alerting.ByGroup,
			Description: "Messages about runs were refused: \"carillon get dead-letters\" has them, each with the reason.",
		},
		{
			Alert: "streams-nearly-full", Severity: alerting.Warning, When: alerting.Condition{StreamFull: 80}, GroupBy: alerting.ByRule,
			Description: "A stream of NATS fills up. Full, it refuses messages, or loses the oldest log lines: give it more room, or find out who fills it.",
		},
		{
			Alert: "streams-full", Severity: alerting.Critical, When: alerting.Condition{StreamFull: 95}, GroupBy: alerting.ByRule,
			Description: "A stream of NATS refuses messages, or is about to: runs are not triggered (TRIG), or not reported (EVT).",
		},
		{
			Alert: "shards-parked", Severity: alerting.Critical, When: alerting.Condition{ShardsParked: true}, GroupBy: alerting.ByRule,
			Description: "NATS refuses for good what a shard is to store, so its jobs do not fire. The incident names the limit to raise.",
		},
		{
			Alert: "clocks-wrong", Severity: alerting.Critical, When: alerting.Condition{ClockWrong: true}, GroupBy: alerting.ByRule,
			Description: "A clock is out of line. A server whose clock is wrong fires nothing, and the others fire for it: look at NTP on that machine.",
		},
		{
			Alert: "groups-over-budget", Severity: alerting.Warning, When: alerting.Condition{OverBudget: true}, GroupBy: alerting.ByGroup,
			Description: "Executors of a group send more than their share, so NATS cuts them off and refuses them for a while. Their runs wait, or go to waste.",
		},
		{
			Alert: "instances-suspended", Severity: alerting.Warning, When: alerting.Condition{InstancesSuspended: true}, GroupBy: alerting.ByGroup,
			Description: "An executor gives triggers back again and again, and gets none for a while: \"carillon get groups\" names it. Stop it, and look at its log.",
		},
	}
}

// seeded says which defaults a cluster has been given.
type seeded struct {
	Rules []string `json:"rules"`
}

// seed gives the cluster the defaults that it has not been given yet, by this version or
// another. A rule of the same name that is there already stays as it is.
func seed(ctx context.Context, conn *cluster.Conn) error {
	done, revision, err := read[seeded](ctx, conn, keySeeded)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	if err != nil {
		done = &seeded{}
	}
	book, before := NewStore(conn), len(done.Rules)
	for _, r := range Defaults() {
		if slices.Contains(done.Rules, r.Alert) {
			continue
		}
		_, _, _, err := book.PutRule(ctx, r, cluster.Edit{IfAbsent: true, Author: defaultAuthor, At: time.Now()})
		if err != nil && !errors.Is(err, job.ErrConflict) {
			return err
		}
		done.Rules = append(done.Rules, r.Alert)
	}
	if len(done.Rules) == before {
		return nil
	}
	_, err = write(ctx, conn, keySeeded, done, revision)
	return err
}
