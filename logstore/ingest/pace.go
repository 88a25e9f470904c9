package ingest

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// paceEvery is how often it is counted what waits, and paceWindow over how long it is
	// compared: a batch that the store takes is many messages at once.
	paceEvery  = 5 * time.Second
	paceWindow = 30 * time.Second
)

// measurePace tells what waits on the streams, and how fast that gets less, until ctx is
// done: as metrics, and on the bus for whoever asks how far the history is.
func (in *Ingest) measurePace(ctx context.Context) {
	defer func() {
		in.metrics.pace.Reset()
		in.metrics.catchUp.Reset()
	}()
	var w window
	told := false // that something is behind
	for pause.For(ctx, paceEvery) == nil {
		backlogs, err := in.conn.Ingest().Backlogs(ctx)
		now := time.Now().UTC().Truncate(time.Millisecond)
		p := w.add(now, backlogs)
		behind := in.showPace(now, backlogs, p)
		if behind || told {
			err = errors.Join(err, in.conn.Ingest().PutPace(ctx, p))
		}
		told = behind
		if err != nil && ctx.Err() == nil {
			in.log.DebugContext(ctx, "pace not measured", "error", err)
		}
	}
}

// showPace sets the metrics, and reports whether something is behind.
func (in *Ingest) showPace(now time.Time, backlogs []fleet.IngestBacklog, p *cluster.IngestPace) (behind bool) {
	for i := range backlogs {
		b := &backlogs[i]
		if b.Unavailable {
			continue // the last that is known stays
		}
		in.metrics.lag.WithLabelValues(b.Stream).Set(float64(b.Messages))
		pace, left := 0.0, 0.0
		if b.Behind(now) {
			behind = true
			if pace, left = p.PerSecond[b.Stream], math.Inf(1); pace > 0 {
				left = float64(b.Messages) / pace
			}
		}
		in.metrics.pace.WithLabelValues(b.Stream).Set(pace)
		in.metrics.catchUp.WithLabelValues(b.Stream).Set(left)
	}
	return behind
}

// window is what waited lately, the oldest first.
type window []sample

type sample struct {
	at      time.Time
	waiting map[string]uint64 // messages, by stream
}

// add notes what waits, and returns by how much that gets less.
func (w *window) add(now time.Time, backlogs []fleet.IngestBacklog) *cluster.IngestPace {
	s := sample{at: now, waiting: make(map[string]uint64, len(backlogs))}
	for i := range backlogs {
		if !backlogs[i].Unavailable {
			s.waiting[backlogs[i].Stream] = backlogs[i].Messages
		}
	}
	for len(*w) > 0 && now.Sub((*w)[0].at) > paceWindow {
		*w = (*w)[1:]
	}
	*w = append(*w, s)
	p := &cluster.IngestPace{At: now, PerSecond: map[string]float64{}}
	first := (*w)[0]
	took := now.Sub(first.at).Seconds()
	for stream, waiting := range s.waiting {
		if before := first.waiting[stream]; took > 0 && before > waiting {
			p.PerSecond[stream] = float64(before-waiting) / took
		}
	}
	return p
}
