package alert

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// hysteresis is the distance below its bound, in percent, at which a fill level ends an incident.
const hysteresis = 5

// checkStreams finds streams that are nearly full, of those that take nothing more when they
// are. One has to become clearly less full
// again until that is over.
func (s *session) checkStreams(ctx context.Context, r *alerting.Rule, now time.Time, _ *jobsView) error {
	var errs []error
	for _, name := range append(s.conn.Trigs(), s.conn.Evts()...) {
		info, err := s.conn.Info(ctx, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if info.Config.MaxBytes <= 0 {
			continue
		}
		full := float64(info.State.Bytes) * 100 / float64(info.Config.MaxBytes)
		if err := s.filled(ctx, r, name, full, alerting.Say("stream_full", "stream", name, "percent", strconv.Itoa(int(full))), now); err != nil {
			return err
		}
	}
	if err := s.checkLines(ctx, r, now); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// checkLines checks how much of the stream of log lines the log store has not stored yet. How full
// the stream is does not matter: NATS removes its oldest lines, which are stored by then.
func (s *session) checkLines(ctx context.Context, r *alerting.Rule, now time.Time) error {
	stream, err := s.conn.JS.Stream(ctx, bus.StreamLog)
	if err != nil {
		return jet.Unavailable(err)
	}
	info := stream.CachedInfo()
	if info.Config.MaxBytes <= 0 || info.State.Msgs == 0 {
		return nil
	}
	waiting, err := s.conn.Ingest().LinesWaiting(ctx)
	if err != nil {
		return err
	}
	share := min(float64(waiting)/float64(info.State.Msgs), 1)
	full := share * float64(info.State.Bytes) * 100 / float64(info.Config.MaxBytes)
	return s.filled(ctx, r, bus.StreamLog, full, alerting.Say("lines_waiting", "stream", bus.StreamLog, "percent", strconv.Itoa(int(full))), now)
}

// filled opens or resolves the incident about a stream that is so many percent full.
func (s *session) filled(ctx context.Context, r *alerting.Rule, stream string, percent float64, found alerting.Sentence, now time.Time) error {
	full, subject := int(percent), "stream "+stream
	switch {
	case full >= r.When.StreamFull:
		return s.stands(ctx, r, subject, "", now, found)
	case full < r.When.StreamFull-hysteresis:
		return s.over(ctx, r, subject, now, alerting.Say("stream_level", "stream", stream, "percent", strconv.Itoa(full)))
	}
	return nil
}
