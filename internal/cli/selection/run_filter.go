package selection

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// RunFilter is the flags that say which runs a command is about.
type RunFilter struct {
	Jobs, statuses, causes           []string
	Group, instance, Since, From, To string
	parent, rerunOf, failure         string
	retried, Attempts                bool
}

// Flags adds the flags to cmd. only is how their help begins: "only" or "all".
func (f *RunFilter) Flags(cmd *cobra.Command, only string) {
	cmd.Flags().StringSliceVar(&f.Jobs, "job", nil, only+" runs of this `job`; can be repeated")
	cmd.Flags().StringVar(&f.Group, "group", "", only+" runs of this executor `group`")
	cmd.Flags().StringSliceVar(&f.statuses, "status", nil, only+" runs with this `status`; can be repeated")
	cmd.Flags().StringSliceVar(&f.causes, "cause", nil, only+" runs with this `cause`; without it, all but tests; can be repeated")
	cmd.Flags().StringVar(&f.parent, "parent", "", only+" runs that follow this `run`")
	cmd.Flags().StringVar(&f.rerunOf, "rerun-of", "", only+" reruns of this `run`")
	cmd.Flags().BoolVar(&f.retried, "retried", false, only+" runs with more than one attempt")
	cmd.Flags().StringVar(&f.failure, "error", "", only+" runs that failed with this `fingerprint`, as \"carillon report failures\" shows it")
	cmd.Flags().StringVar(&f.instance, "instance", "", only+" runs on this `instance`; host:* selects runs that pings reported")
	cmd.Flags().StringVar(&f.Since, "since", "", only+" fires of the last `duration`, such as 90m or 7d")
	cmd.Flags().StringVar(&f.From, "from", "", only+" fires at or after this `time` (RFC 3339)")
	cmd.Flags().StringVar(&f.To, "to", "", only+" fires before this `time` (RFC 3339)")
	cmd.MarkFlagsMutuallyExclusive("since", "from")
	cmd.MarkFlagsMutuallyExclusive("rerun-of", "parent")
	cmd.MarkFlagsMutuallyExclusive("rerun-of", "cause")
	cli.Complete(cmd, "status", cli.Words[string](job.Statuses)...)
	cli.Complete(cmd, "cause", cli.Words[string](job.Causes)...)
}

// given reports whether there is a filter.
func (f *RunFilter) given() bool {
	return len(f.Jobs)+len(f.statuses)+len(f.causes) > 0 || f.retried ||
		f.Group+f.instance+f.Since+f.From+f.To+f.parent+f.rerunOf+f.failure != ""
}

// Params returns the filter as the API takes it. --since counts back from now.
func (f *RunFilter) Params(now time.Time) (client.ListRunsParams, error) {
	p := client.ListRunsParams{
		Job:      client.OptionalList(f.Jobs),
		Group:    client.Optional(f.Group),
		Instance: client.Optional(f.instance),
		Status:   client.OptionalList(cli.Words[job.Status](f.statuses)),
		Cause:    client.OptionalList(cli.Words[job.Cause](f.causes)),
		Parent:   client.Optional(f.parent),
		RerunOf:  client.Optional(f.rerunOf),
		Error:    client.Optional(f.failure),
	}
	if f.retried {
		p.MinAttempt = new(2)
	}
	if f.Attempts {
		p.Attempts = new(client.ListRunsParamsAttemptsAll)
	}
	var err error
	p.From, p.To, err = cli.Bounds(f.Since, f.From, f.To, now)
	return p, err
}

// bulk returns the filter as a request for many runs takes it.
func (f *RunFilter) bulk(now time.Time) (*client.RunFilter, error) {
	p, err := f.Params(now)
	if err != nil {
		return nil, err
	}
	b := &client.RunFilter{
		Job: f.Jobs, Group: f.Group, Status: cli.Words[job.Status](f.statuses), Cause: cli.Words[job.Cause](f.causes),
		Instance: f.instance, Parent: f.parent, RerunOf: f.rerunOf, Error: f.failure,
	}
	if p.MinAttempt != nil {
		b.MinAttempt = *p.MinAttempt
	}
	if p.From != nil {
		b.From = *p.From
	}
	if p.To != nil {
		b.To = *p.To
	}
	return b, nil
}
