package alert

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/journal"
)

// How often the alerter reads notices, checks what does not come as a message, and removes
// what is too old to keep. storeEvery is how often it stores how far it has come.
const (
	noticesEvery = 2 * time.Second
	tickEvery    = 6 * time.Second
	storeEvery   = 2 * time.Second
	tidyEvery    = time.Hour
)

// watch reads the streams and judges what they say, until ctx is done.
func (s *session) watch(ctx context.Context) error {
	if !s.mirror.load(ctx) {
		return nil
	}
	if err := s.recall(ctx); err != nil {
		return err
	}
	if err := ignoreAway(seed(ctx, s.conn)); err != nil {
		return err
	}
	labels := newJobs()
	g, ctx := errgroup.WithContext(ctx)
	events := make(chan event, 512)
	for _, stream := range s.conn.Evts() {
		position, checked := s.position.Of(stream), s.position.LateChecked
		g.Go(func() error { return s.readEvents(ctx, stream, position, checked, events) })
	}
	g.Go(func() error { return labels.follow(ctx, s.conn, s.mirror) })
	findings := make(chan jetstream.KeyValueEntry)
	g.Go(func() error { return s.readFindings(ctx, findings) })
	g.Go(func() error { return s.watchLoop(ctx, events, findings, labels) })
	return g.Wait()
}

// recall reads what the last session has stored.
func (s *session) recall(ctx context.Context) error {
	position, revision, err := s.records.position.Read(ctx, theOnly)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	if err == nil {
		s.position, s.revision = position, revision
	}
	if s.position.LateChecked.IsZero() {
		s.position.LateChecked = time.Now()
	}
	s.lateFrom = s.position.LateChecked
	for _, t := range s.mirror.tallies.Find(always) {
		s.tallies[t.Key] = &t.Value
	}
	return nil
}

// event is a message of a stream of events.
type event struct {
	stream string
	*jet.Stored
}

// readEvents hands on what comes on a stream of events after the position; and before it, for as long as
// a run may take to begin, so that it is known which have. While there is no rule about
// runs, nothing is read.
func (s *session) readEvents(ctx context.Context, stream string, position uint64, checked time.Time, to chan<- event) error {
	rules := s.mirror.ofRuns()
	for ; len(rules) == 0; rules = s.mirror.ofRuns() {
		if pause.For(ctx, noticesEvery) != nil {
			return nil //nolint:nilerr // its owner wants no more
		}
	}
	from, err := s.firstEvent(ctx, rules, stream, position, checked)
	for err != nil {
		if err := ignoreAway(err); err != nil {
			return err
		}
		// The streams of other partitions may be there.
		if pause.For(ctx, noticesEvery) != nil {
			return nil //nolint:nilerr // its owner wants no more
		}
		from, err = s.firstEvent(ctx, rules, stream, position, checked)
	}
	return s.conn.Follow(ctx, stream, []string{"evt.*.*"}, from, func(m *jet.Stored) {
		select {
		case to <- event{stream, m}:
		case <-ctx.Done():
		}
	})
}

// firstEvent returns the sequence of the first event that readEvents hands on.
func (s *session) firstEvent(ctx context.Context, rules []*alerting.Rule, stream string, position uint64, checked time.Time) (uint64, error) {
	since, longest := rules[0].Since, time.Duration(0)
	for _, r := range rules {
		since, longest = minTime(since, r.Since), max(longest, r.When.StartsWithin.Std())
	}
	from, err := s.conn.SeqAt(ctx, stream, since)
	if err != nil {
		return 0, err
	}
	from = max(from, position+1)
	if longest > 0 {
		seq, err := s.conn.SeqAt(ctx, stream, minTime(checked, time.Now()).Add(-longest))
		if err != nil {
			return 0, err
		}
		from = min(from, seq)
	}
	return from, nil
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (s *session) watchLoop(ctx context.Context, events <-chan event, findings <-chan jetstream.KeyValueEntry, jobs *jobs) error {
	chores := []struct {
		every time.Duration
		do    func(context.Context, *jobsView) error
		due   time.Time
	}{{every: noticesEvery, do: s.readNotices}, {every: tickEvery, do: s.tick}, {every: storeEvery, do: s.store}, {every: tidyEvery, do: s.tidy}}
	tick := time.NewTicker(noticesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			// What is not stored is read again by the next one.
			return nil
		case m := <-events:
			if err := s.handleEvent(ctx, m, jobs.view()); err != nil {
				return err
			}
		case e := <-findings:
			if err := s.handleFinding(ctx, e, jobs.view()); err != nil {
				return err
			}
		case now := <-tick.C:
			for i := range chores {
				c := &chores[i]
				if now.Before(c.due) {
					continue
				}
				c.due = now.Add(c.every - noticesEvery/2) // ticks come a little early or late
				if err := c.do(ctx, jobs.view()); err != nil {
					return err
				}
			}
		}
	}
}

// handleEvent judges the events of a message.
func (s *session) handleEvent(ctx context.Context, m event, jobs *jobsView) error {
	old := m.Seq <= s.position.Of(m.stream)
	rules := s.mirror.ofRuns()
	if len(rules) > 0 {
		next := m.Seq * maxLines
		for e, err := range s.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
			seq := next
			next++
			if err != nil {
				continue // a forged or damaged event, which ingest reports
			}
			s.metrics.read.WithLabelValues(string(fromEvents)).Inc()
			s.noteBegun(e)
			o := fromEvent(e, m.stream, seq)
			switch {
			case o == nil:
			case old: // an earlier session has judged it
				s.ends.note(o)
			default:
				if err := s.judge(ctx, rules, o, jobs); err != nil {
					return err
				}
			}
		}
	}
	if !old {
		s.position.Set(m.stream, m.Seq)
		s.moved = true
	}
	return nil
}

// noteBegun remembers which runs have begun, as long as somebody may ask.
func (s *session) noteBegun(e *bus.Event) {
	switch e.Kind {
	case bus.EventStarted:
		s.begun[e.RunID] = e.At
	case bus.EventFinished:
		if e.Total == 0 && !e.Retry {
			delete(s.begun, e.RunID)
		}
	case bus.EventProgress, bus.EventHeld:
	}
}

// readNotices judges the notices that are there, and removes them.
func (s *session) readNotices(ctx context.Context, jobs *jobsView) error {
	for _, stream := range s.conn.Trigs() {
		if err := s.readNoticesOf(ctx, stream, jobs); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) readNoticesOf(ctx context.Context, stream string, jobs *jobsView) error {
	var found []*jet.Stored
	err := s.conn.Scan(ctx, stream, bus.SubjectNotices, func(m *jet.Stored) bool {
		found = append(found, m)
		return len(found) < 1000
	})
	if err != nil {
		return ignoreAway(err)
	}
	rules := s.mirror.active()
	for _, m := range found {
		record, err := journal.DecodeRecord(m.Header, m.Data)
		if err == nil {
			s.metrics.read.WithLabelValues(string(fromNotices)).Inc()
			var list []outcome
			s.heard.note(record)
			if list, err = fromNotice(record, stream, m.Seq); err == nil {
				for i := range list {
					if err := s.judge(ctx, rules, &list[i], jobs); err != nil {
						return err
					}
				}
				if err := s.judgeApprovals(ctx, rules, record, stream, m.Seq, jobs); err != nil {
					return err
				}
			}
		}
		if err != nil {
			s.log.WarnContext(ctx, "notice passed over", "stream", stream, "sequence", m.Seq, "error", err)
		}
	}
	if len(found) == 0 {
		return nil
	}
	// What the notices have changed of tallies is stored before they are gone.
	if err := s.storeTallies(ctx); err != nil {
		return err
	}
	for _, m := range found {
		if err := s.conn.Remove(ctx, stream, m.Seq); err != nil {
			return ignoreAway(err)
		}
	}
	return nil
}

// passEvents moves the positions on streams of events on while no rule is about runs, since
// nothing is read then, and they are trimmed no further than to the positions. It moves to where
// they ended at the check before, so that a rule that was just made finds what came after it.
func (s *session) passEvents(ctx context.Context) error {
	if len(s.mirror.ofRuns()) > 0 {
		clear(s.unread)
		return nil
	}
	var errs []error
	for _, name := range s.conn.Evts() {
		last, err := s.conn.LastSeq(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if s.unread[name] > s.position.Of(name) {
			s.position.Set(name, s.unread[name])
			s.moved = true
		}
		s.unread[name] = last
	}
	return errors.Join(errs...)
}
