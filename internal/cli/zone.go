package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
)

type zoneKey struct{}

// InZone returns a context in which commands show instants in a time zone. Without it, they
// show UTC.
func InZone(ctx context.Context, zone *time.Location) context.Context {
	return context.WithValue(ctx, zoneKey{}, zone)
}

const utcFlag = "utc"

// UTCFlag adds the flag that shows instants in UTC.
func UTCFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(utcFlag, false, "show times in UTC instead of the local time zone")
}

// ClockOf returns the clock by which a command shows instants.
func ClockOf(cmd *cobra.Command) draw.Clock {
	if flag := cmd.Flags().Lookup(utcFlag); flag != nil && flag.Value.String() == "true" || cmd.Context() == nil {
		return draw.Clock{}
	}
	zone, _ := cmd.Context().Value(zoneKey{}).(*time.Location)
	return draw.Clock{Zone: zone}
}
