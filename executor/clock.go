package executor

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

const (
	// compareEvery is how often the machine's clock is compared with NATS'.
	compareEvery = 15 * time.Second
	// compareWithin bounds the time that a heartbeat takes to be stored: one that takes longer says too little.
	compareWithin = time.Second
	// clockTolerance is by how much clocks differ anyhow.
	clockTolerance = 2 * time.Second
)

// clock corrects the machine's clock, if that is wrong: instants of the protocol are those of NATS. The
// zero value corrects nothing. It is safe for concurrent use.
type clock struct {
	ahead atomic.Int64 // by how much the machine's clock is ahead of NATS', in ns; 0 within the tolerance
}

// at returns the time by NATS' clock at an instant of the machine's clock; zero of zero.
func (c *clock) at(own time.Time) time.Time {
	if own.IsZero() {
		return own
	}
	return own.Add(-time.Duration(c.ahead.Load()))
}

// now returns the time by NATS' clock, as far as the machine's own is known to be wrong.
func (c *clock) now() time.Time { return c.at(time.Now()) }

// compare learns that NATS stored at one instant what was sent at another by the machine's clock. It
// reports whether that changes much.
func (c *clock) compare(own, stored time.Time) bool {
	ahead := own.Round(0).Sub(stored)
	if ahead.Abs() <= clockTolerance {
		ahead = 0
	}
	if (ahead - time.Duration(c.ahead.Load())).Abs() <= clockTolerance/2 {
		return false
	}
	c.ahead.Store(int64(ahead))
	return true
}

// compareClocks stores a heartbeat and reads its time by NATS' clock. Without an answer nothing changes.
func (e *Executor) compareClocks(ctx context.Context, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, 2*compareWithin)
	defer cancel()
	sent := time.Now()
	var beat bus.Heartbeat
	if json.Unmarshal(m.Data, &beat) != nil {
		return
	}
	beat.At = instant(sent)
	data, err := json.Marshal(beat)
	if err != nil || e.out.publish(ctx, &nats.Msg{Subject: m.Subject, Data: data}) != nil || time.Since(sent) > compareWithin {
		return
	}
	stored, at, err := jet.StoredHeartbeat(ctx, e.conn, e.cfg.Group, e.cfg.Instance)
	if err != nil || stored == nil || !stored.At.Equal(beat.At) || !e.clock.compare(sent, at) {
		return
	}
	off := time.Duration(e.clock.ahead.Load())
	e.log.WarnContext(ctx, "the clock of this machine differs from NATS' clock, by which times are corrected: check NTP", "ahead", off.Round(time.Millisecond).String())
}
