package run

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// later is when a run is to begin, as flags say it.
type later struct {
	at      string
	in      time.Duration
	expires string
}

// laterFlags are the names of its flags.
var laterFlags = []string{"at", "in", "expires"}

// flags adds --at, --in and --expires to a command.
func (l *later) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.at, "at", "", "run at this `time` (RFC 3339), at most 366 days ahead, instead of now")
	cmd.Flags().Var(cli.OptionalDuration(&l.in), "in", "run after this long, instead of now")
	cmd.Flags().StringVar(&l.expires, "expires", "", "count as missed if it has not begun by this `time` (RFC 3339), or so long after it was due, such as 1h")
	cmd.MarkFlagsMutuallyExclusive("at", "in")
}

// set has a request say so. The error is one of usage.
func (l *later) set(r *client.RunRequest) error {
	r.In, r.Expires = job.Duration(l.in), l.expires
	if l.at == "" {
		return nil
	}
	var err error
	r.At, err = cli.ParseInstant("--at", l.at)
	return cli.Usage(err)
}
