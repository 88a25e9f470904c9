package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job/cron"
)

type zoneKey struct{}

// InZone returns a context in which commands show instants in a time zone. Without it, they
// show UTC.
func InZone(ctx context.Context, zone *time.Location) context.Context {
	return context.WithValue(ctx, zoneKey{}, zone)
}

const (
	utcFlag  = "utc"
	zoneFlag = "zone"
)

// UTCFlag adds the flag that shows instants in UTC.
func UTCFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(utcFlag, false, "show times in UTC instead of the local time zone")
}

// ZoneFlag adds the flag for another time zone than the user's to a command that has the
// flag of UTCFlag.
func ZoneFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&readerZone{}, zoneFlag, "show times and days in this time `zone`, an IANA name (default: this machine's)")
	cmd.MarkFlagsMutuallyExclusive(utcFlag, zoneFlag)
}

// readerZone is the value of ZoneFlag's flag.
type readerZone struct{ location *time.Location }

// Set implements [pflag.Value].
func (z *readerZone) Set(name string) error {
	zone, err := cron.LoadZone(name)
	if err == nil {
		z.location = zone.Location()
	}
	return err
}

// String implements [pflag.Value].
func (z *readerZone) String() string {
	if z.location == nil {
		return ""
	}
	return z.location.String()
}

// Type implements [pflag.Value].
func (z *readerZone) Type() string { return zoneFlag }

// ClockOf returns the clock by which a command shows instants.
func ClockOf(cmd *cobra.Command) draw.Clock {
	if flag := cmd.Flags().Lookup(zoneFlag); flag != nil {
		if zone, ok := flag.Value.(*readerZone); ok && zone.location != nil {
			return draw.Clock{Zone: zone.location}
		}
	}
	if flag := cmd.Flags().Lookup(utcFlag); flag != nil && flag.Value.String() == "true" || cmd.Context() == nil {
		return draw.Clock{}
	}
	zone, _ := cmd.Context().Value(zoneKey{}).(*time.Location)
	return draw.Clock{Zone: zone}
}

// ZoneName returns the IANA name of the zone of a command's clock.
func ZoneName(cmd *cobra.Command) string {
	switch zone := ClockOf(cmd).Zone; zone {
	case nil:
		return "UTC"
	case time.Local: //nolint:gosmopolitan // has no name of its own
		return LocalZone()
	default:
		return zone.String()
	}
}

// LocalZone returns the IANA name of this machine's zone, which is what cron goes by; UTC
// where it cannot be told.
func LocalZone() string {
	if zone, set := os.LookupEnv("TZ"); set && zone == "" {
		return "UTC" // as for package time
	} else if zone = strings.TrimPrefix(zone, ":"); isZone(zone) {
		return zone
	}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "/zoneinfo/"); ok && isZone(zone) {
			return zone
		}
	}
	if data, err := os.ReadFile("/etc/timezone"); err == nil && isZone(strings.TrimSpace(string(data))) {
		return strings.TrimSpace(string(data))
	}
	return "UTC"
}

func isZone(name string) bool {
	_, err := cron.LoadZone(name)
	return name != "" && err == nil
}
