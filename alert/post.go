package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// How deliveries are tried: how long an attempt may take, how many there may be at once,
// how long until the first repeat, which grows threefold each time, the longest of those,
// and for how long altogether.
const (
	sendTimeout = 20 * time.Second
	sendAtOnce  = 8
	firstRepeat = 10 * time.Second
	lastRepeat  = 30 * time.Minute
	tryFor      = 24 * time.Hour
)

// errHandled means that a delivery needs nothing more for now.
var errHandled = errors.New("nothing to send")

// poster sends the messages of incidents.
type poster struct{ *incidents }

// run sends what is due until ctx is done. One message at a time goes to a channel.
func (p *poster) run(ctx context.Context) error {
	if !p.mirror.load(ctx) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sendAtOnce + 1)
	var mu sync.Mutex
	busy := map[string]bool{} // channels
	g.Go(func() error {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-p.mirror.changed:
			case <-timer.C:
			}
			due, next := p.due(time.Now())
			for _, d := range due {
				mu.Lock()
				isBusy := busy[d.channel]
				busy[d.channel] = true
				mu.Unlock()
				if isBusy {
					continue
				}
				free := func() {
					mu.Lock()
					delete(busy, d.channel)
					mu.Unlock()
					p.mirror.wake()
				}
				if !g.TryGo(func() error {
					defer free()
					return p.deliver(ctx, d)
				}) {
					mu.Lock()
					delete(busy, d.channel) // whoever ends wakes this loop
					mu.Unlock()
				}
			}
			timer.Reset(next)
		}
	})
	return g.Wait()
}

// dueDelivery names a delivery that is to be sent now.
type dueDelivery struct {
	incident, key, id, channel string
}

// due returns what is to be sent, the oldest incident first, and how long until there may
// be more.
func (p *poster) due(now time.Time) (list []dueDelivery, next time.Duration) {
	next = time.Minute
	for _, inc := range p.mirror.find(func(inc *alerting.Incident) bool { return len(inc.Deliveries) > 0 }) {
		for _, d := range inc.Value.Deliveries {
			switch left := d.NextAt.Sub(now); {
			case d.State != alerting.Waiting:
			case left <= 0, d.Claim != 0 && d.Claim != p.lease.Epoch: // its claimant has lost the lease
				list = append(list, dueDelivery{inc.Value.ID, inc.Key, d.ID, d.Channel})
			default:
				next = min(next, left)
			}
		}
	}
	slices.SortFunc(list, func(a, b dueDelivery) int { return strings.Compare(a.incident, b.incident) })
	return list, next
}

// deliver claims a delivery, sends it, and records what became of it.
func (p *poster) deliver(ctx context.Context, due dueDelivery) error {
	m, channel, err := p.claim(ctx, due)
	if errors.Is(err, errHandled) {
		return nil
	}
	if err != nil {
		return ignoreAway(err)
	}
	sending, cancel := context.WithTimeoutCause(ctx, sendTimeout, &alerting.Failure{Sentence: alerting.Say("no_answer")})
	begun := time.Now()
	answer, failed := p.out.send(sending, channel, m)
	cancel()
	if ctx.Err() != nil && failed != nil {
		return nil //nolint:nilerr // the attempt was cut off; the claim tells the next alerter
	}
	p.metrics.send.Observe(time.Since(begun).Seconds())
	result := resultSent
	if failed != nil {
		result = resultFailed
		p.log.WarnContext(ctx, "alert not delivered", "channel", due.channel, "incident", m.Incident.ID, "error", failed)
	}
	p.metrics.deliveries.WithLabelValues(string(channel.Doc.Kind), result).Inc()
	return p.record(ctx, due, answer, failed)
}

// claim says that the delivery is being sent, and returns what is to be sent. The error is
// errHandled when it is not to be sent now.
func (p *poster) claim(ctx context.Context, due dueDelivery) (m *Message, channel *Entry[alerting.Channel], err error) {
	now := stamp(time.Now())
	channel = p.mirror.channel(due.channel)
	err = p.update(ctx, due.key, func(inc *alerting.Incident) *alerting.Incident {
		m = nil
		if inc == nil {
			return nil
		}
		d := inc.Delivery(due.id)
		if d == nil || d.State != alerting.Waiting || d.NextAt.After(now) && (d.Claim == 0 || d.Claim == p.lease.Epoch) {
			return nil
		}
		switch until, why := p.heldBack(inc, d, channel, now); {
		case channel == nil:
			d.Drop(alerting.Say("channel_gone"))
		case channel.Doc.Disabled && d.Kind != alerting.Test:
			d.Drop(alerting.Say("channel_disabled"))
		case !until.IsZero():
			d.NextAt, d.Claim = until, 0
			d.Because(why)
		default:
			d.Attempts++
			d.Claim, d.Node, d.NextAt = p.lease.Epoch, p.cfg.Node, now.Add(3*sendTimeout)
			d.Because(alerting.Sentence{})
			m = p.out.message(inc, d, channel.Doc.Reader())
		}
		return inc
	})
	if err == nil && m == nil {
		err = errHandled
	}
	return m, channel, err
}

// heldBack returns until when a delivery has to wait, and why; zero when it has not.
// Silences are checked again when they change: one may end early.
func (p *poster) heldBack(inc *alerting.Incident, d *alerting.Delivery, channel *Entry[alerting.Channel], now time.Time) (until time.Time, why alerting.Sentence) {
	if d.Kind == alerting.Test || d.Kind == alerting.Recovery {
		return until, why // who asks for a test waits for it, and who was woken may sleep again
	}
	if until, by := p.mirror.silenced(inc, now); !until.IsZero() && d.Kind != alerting.MonthReport {
		return minTime(until, now.Add(time.Minute)), alerting.Say("silenced_by", "by", by, "until", until.Format(time.RFC3339))
	}
	if channel == nil || channel.Doc.Quiet == nil || inc.Severity == alerting.Critical {
		return until, why
	}
	return channel.Doc.Quiet.Until(now), alerting.Say("quiet_hours")
}

// record says what became of an attempt.
func (p *poster) record(ctx context.Context, due dueDelivery, answer *alerting.Answer, failed error) error {
	// What was sent must be known as such even if this process is to stop.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 2*time.Second, errors.New("the bus does not answer"))
	defer cancel()
	now := stamp(time.Now())
	err := p.update(ctx, due.key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil {
			return nil
		}
		d := inc.Delivery(due.id)
		if d == nil || d.Claim != p.lease.Epoch {
			return nil
		}
		d.Claim, d.Answer, d.TriedAt = 0, answer, now
		switch {
		case failed == nil:
			d.State, d.SentAt, d.NextAt = alerting.Sent, now, time.Time{}
			d.Because(alerting.Sentence{})
		case d.Kind == alerting.Test, now.Sub(d.MadeAt) > tryFor:
			d.State, d.NextAt = alerting.Failed, time.Time{}
			d.Because(alerting.SentenceOf(failed))
		case inc.State == alerting.Resolved && d.Kind != alerting.Recovery && d.Kind != alerting.MonthReport:
			d.Drop(alerting.Say("over_before_sent", "error", failed.Error()))
		default:
			d.NextAt = now.Add(repeatAfter(d.Attempts))
			d.Because(alerting.SentenceOf(failed))
		}
		return inc
	})
	if err != nil && !errors.Is(err, job.ErrUnavailable) {
		return fmt.Errorf("record delivery: %w", err)
	}
	return nil // when the bus is away, the claim runs out, and it is sent again under the same key
}

// repeatAfter returns how long to wait after so many attempts.
func repeatAfter(attempts int) time.Duration {
	d := firstRepeat
	for range attempts - 1 {
		if d = 3 * d; d >= lastRepeat {
			return lastRepeat
		}
	}
	return d
}
