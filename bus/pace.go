package bus

import (
	"context"
	"time"

	"carillon/job/fleet"
)

// paceHolds is for how long a measurement of the pace tells something.
const paceHolds = time.Minute

// IngestPace is how fast the log store catches up with the streams, as whoever moves history
// there has measured it.
type IngestPace struct {
	At time.Time `json:"at"`
	// PerSecond is by how many messages fewer wait with each second, by stream. Streams of
	// which no fewer wait are absent.
	PerSecond map[string]float64 `json:"per_second"`
}

var measuredPace = measured{key: "ingest-pace", what: "how fast the log store catches up"}

// PutIngestPace keeps the newest measurement. The error is job.ErrUnavailable.
func (c *Conn) PutIngestPace(ctx context.Context, p *IngestPace) error {
	return c.putMeasured(ctx, measuredPace, p)
}

// GetIngestPace returns the newest measurement. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (c *Conn) GetIngestPace(ctx context.Context) (*IngestPace, error) {
	p := &IngestPace{}
	if err := c.getMeasured(ctx, measuredPace, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Forecast notes in backlogs how fast those shrink that are behind, and returns when the log
// store will have caught up if it goes on so. That is zero when it is not behind, when one of
// them does not shrink, and when p is too old to tell.
func (p *IngestPace) Forecast(backlogs []fleet.IngestBacklog, now time.Time) time.Time {
	if now.Sub(p.At) > paceHolds {
		return time.Time{}
	}
	var end time.Time
	known := true
	for i := range backlogs {
		b := &backlogs[i]
		if !b.Behind(now) {
			continue
		}
		if b.PerSecond = p.PerSecond[b.Stream]; b.PerSecond <= 0 {
			known = false
			continue
		}
		left := time.Duration(float64(b.Messages) / b.PerSecond * float64(time.Second))
		if at := now.Add(left); at.After(end) {
			end = at
		}
	}
	if !known {
		return time.Time{}
	}
	return end
}
