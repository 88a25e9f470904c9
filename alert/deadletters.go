package alert

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// maxDead bounds how many dead letters one check reads. What is left comes with the next.
const maxDead = 1000

// deadOf is what a check has found of the dead letters of one executor group.
type deadOf struct {
	n      int
	at     time.Time
	reason string
}

// checkDeadLetters applies the rules to the dead letters that have come since the last check, those of an
// executor group together: whoever sends rubbish sends a lot of it.
func (s *session) checkDeadLetters(ctx context.Context) error {
	var rules []*alerting.Rule
	for _, r := range s.mirror.active() {
		if r.When.DeadLetters {
			rules = append(rules, r)
		}
	}
	stream, err := s.conn.JS.Stream(ctx, bus.StreamDead)
	if err != nil {
		return jet.Unavailable(err)
	}
	last := stream.CachedInfo().State.LastSeq
	if last < s.position.Dead { // the stream was created again
		s.position.Dead = 0
	}
	if last == s.position.Dead {
		return nil
	}
	read, found := 0, map[*alerting.Rule]map[string]*deadOf{}
	err = s.conn.DeadLetters().From(ctx, s.position.Dead+1, func(l *cluster.DeadLetter) bool {
		read, last = read+1, max(l.Sequence, s.position.Dead)
		for _, r := range rules {
			if l.At.Before(r.Since) || !r.Match.SelectsGroup(l.Group()) {
				continue
			}
			of := found[r]
			if of == nil {
				of = map[string]*deadOf{}
				found[r] = of
			}
			if of[l.Group()] == nil {
				of[l.Group()] = &deadOf{}
			}
			d := of[l.Group()]
			d.n, d.at, d.reason = d.n+1, l.At, l.Reason
		}
		return read < maxDead
	})
	if err != nil {
		return err
	}
	for r, groups := range found {
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			d := groups[group]
			subject := "dead letters" // of nobody's making that is known
			if group != "" {
				subject += " of group " + group
			}
			summary := alerting.Say("messages_refused", "count", strconv.Itoa(d.n), "group", group, "reason", clip.Text(oneLine(d.reason), alerting.MaxMessage))
			if d.n == 1 {
				summary = alerting.Say("message_refused", "group", group, "reason", clip.Text(oneLine(d.reason), alerting.MaxMessage))
			}
			// The instant, and not the sequence: the stream may be created again.
			seq := uint64(d.at.UnixNano())
			if err := s.found(ctx, &alerting.Finding{Rule: r, Subject: subject, Group: group, Summary: summary, At: stamp(d.at), Source: fromDead, Seq: seq}); err != nil {
				return err
			}
		}
	}
	s.position.Dead, s.moved = last, true
	return nil
}
