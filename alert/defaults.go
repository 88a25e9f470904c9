package alert

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
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
			Description: alerting.Say("rule_dead_letters").English(),
		},
		{
			Alert: "streams-nearly-full", Severity: alerting.Warning, When: alerting.Condition{StreamFull: 80}, GroupBy: alerting.ByRule,
			Description: alerting.Say("rule_streams_nearly_full").English(),
		},
		{
			Alert: "streams-full", Severity: alerting.Critical, When: alerting.Condition{StreamFull: 90}, GroupBy: alerting.ByRule,
			Description: alerting.Say("rule_streams_full").English(),
		},
		{
			Alert: "shards-parked", Severity: alerting.Critical, When: alerting.Condition{ShardsParked: true}, GroupBy: alerting.ByRule,
			Description: alerting.Say("rule_shards_parked").English(),
		},
		{
			Alert: "clocks-wrong", Severity: alerting.Critical, When: alerting.Condition{ClockWrong: true}, GroupBy: alerting.ByRule,
			Description: alerting.Say("rule_clocks_wrong").English(),
		},
		{
			Alert: "groups-over-budget", Severity: alerting.Warning, When: alerting.Condition{OverBudget: true}, GroupBy: alerting.ByGroup,
			Description: alerting.Say("rule_groups_over_budget").English(),
		},
		{
			Alert: "runs-lost", Severity: alerting.Warning, When: alerting.Condition{Ends: []job.Status{job.StatusLost}}, GroupBy: alerting.ByJob,
			Description: alerting.Say("rule_runs_lost").English(),
		},
		{
			Alert: "never-heard", Severity: alerting.Warning, When: alerting.Condition{NeverHeard: job.Duration(24 * time.Hour)}, GroupBy: alerting.ByGroup,
			Description: alerting.Say("rule_never_heard").English(),
		},
	}
}

// About returns what a built-in rule is for, the zero Sentence for another one, or once
// somebody has described it in other words.
func About(r *alerting.Rule) alerting.Sentence {
	about := alerting.Sentence{Code: alerting.Code("rule_" + strings.ReplaceAll(r.Alert, "-", "_"))}
	if r.Description == "" || about.English() != r.Description {
		return alerting.Sentence{}
	}
	return about
}

// seeded says which defaults a cluster has been given.
type seeded struct {
	Rules []string `json:"rules"`
}

// seed gives the cluster the defaults that it has not been given yet, by this version or
// another. A rule of the same name that is there already stays as it is.
func seed(ctx context.Context, conn *cluster.Conn) error {
	records := kindSeeded.On(conn.Conn)
	done, revision, err := records.Read(ctx, theOnly)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	book, before := NewStore(conn), len(done.Rules)
	for _, r := range Defaults() {
		if slices.Contains(done.Rules, r.Alert) {
			continue
		}
		_, _, _, err := book.PutRule(ctx, alerting.RuleDocument{Rule: r}, cluster.Edit{IfAbsent: true, Author: defaultAuthor, At: time.Now()})
		if err != nil && !errors.Is(err, job.ErrConflict) {
			return err
		}
		done.Rules = append(done.Rules, r.Alert)
	}
	if len(done.Rules) == before {
		return nil
	}
	_, err = records.Write(ctx, theOnly, done, revision)
	return err
}
