package alert

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// measuredWithin is how old a measurement of the log store may be. While the store is
// away nothing is known, and so nothing changes.
const measuredWithin = 10 * time.Minute

// checkStore finds that the disk of the log store is nearly full.
func (s *session) checkStore(ctx context.Context, r *alerting.Rule, now time.Time, _ *jobsView) error {
	disk, err := s.conn.Ingest().StoreDisk(ctx)
	if errors.Is(err, job.ErrNotFound) || err == nil && now.Sub(disk.At) > measuredWithin {
		return nil
	}
	if err != nil {
		return err
	}
	const subject = "disk of the log store"
	full := int(disk.Used())
	percent, free := strconv.Itoa(full), fmt.Sprintf("%.1f", float64(disk.Free)/1e9)
	switch {
	case full >= r.When.StoreFull:
		return s.stands(ctx, r, subject, "", now, alerting.Say("store_full", "percent", percent, "free", free))
	case full < r.When.StoreFull-hysteresis:
		return s.over(ctx, r, subject, now, alerting.Say("store_level", "percent", percent, "free", free))
	}
	return nil
}
