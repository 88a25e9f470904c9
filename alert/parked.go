package alert

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// checkParked finds shards that do not fire, as the nodes say that would fire for them.
func (s *session) checkParked(ctx context.Context, r *alerting.Rule, now time.Time, _ *jobsView) error {
	parked, err := s.conn.Nodes().Parked(ctx, now)
	if err != nil {
		return err
	}
	const subject = "parked shards"
	if len(parked) == 0 {
		return s.over(ctx, r, subject, now, alerting.Say("shards_store"))
	}
	var list []string
	for _, p := range parked {
		list = append(list, strconv.Itoa(p.Shard))
	}
	return s.stands(ctx, r, subject, "", now, alerting.Say("shards_parked",
		"shards", strings.Join(list, ", "), "count", strconv.Itoa(len(list)), "reason", clip.Text(oneLine(parked[0].Reason), alerting.MaxMessage)))
}
