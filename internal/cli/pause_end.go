package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// PauseEnd is when a pause ends by itself, as flags say it.
type PauseEnd struct {
	until string
	after time.Duration
}

// Flags adds --until and --for to a command.
func (p *PauseEnd) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.until, "until", "", "resume automatically at this `time` (RFC 3339)")
	cmd.Flags().Var(OptionalDuration(&p.after), "for", "resume automatically after this long")
	cmd.MarkFlagsMutuallyExclusive("until", "for")
}

// At returns the instant, which is zero when there is none.
func (p *PauseEnd) At(now time.Time) (until time.Time, err error) {
	switch {
	case p.until != "":
		return ParseInstant("--until", p.until)
	case p.after > 0:
		return now.Add(p.after).UTC().Truncate(time.Millisecond), nil
	default:
		return time.Time{}, nil
	}
}
