package selection

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// Jobs is the flags that say which jobs to change, in the place of their names.
type Jobs struct {
	Options

	group, query string
	last, where  []string
}

// Flags adds the flags to a command.
func (c *Jobs) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.group, "group", "", "jobs of this executor `group`")
	cmd.Flags().StringVarP(&c.query, "query", "q", "", "jobs with this `text` in their name or description")
	cmd.Flags().StringSliceVar(&c.last, "last", nil, "jobs whose last run has this `status`; can be repeated")
	cmd.Flags().StringArrayVar(&c.where, "where", nil, "jobs that match `FIELD:VALUE`, as in \"carillon get jobs\"; can be repeated")
	cli.Complete(cmd, "last", cli.Words[string](job.Statuses)...)
	c.confirmFlags(cmd)
}

// Given reports whether there is a filter.
func (c *Jobs) Given() bool { return c.group != "" || c.query != "" || len(c.last)+len(c.where) > 0 }

// Filter returns what a server finds the jobs by.
func (c *Jobs) Filter() *client.JobFilter {
	return &client.JobFilter{Group: c.group, Q: c.query, Last: cli.Words[job.Status](c.last), Where: c.where}
}

// Tag selects jobs with a tag.
func (c *Jobs) Tag(tag string) { c.where = append(c.where, "tag:"+tag) }

// Args returns an error unless a command has the names of jobs, or a filter.
func (c *Jobs) Args(_ *cobra.Command, args []string) error {
	if cli.ExactlyOne(len(args) > 0, c.Given()) {
		return nil
	}
	return errors.New("name jobs, or select them with a filter such as --group")
}

// jobDone is what a command did to a job, or would do.
type jobDone struct {
	Job    job.Name  `json:"job"`
	Result string    `json:"result"`
	RunID  job.RunID `json:"run_id,omitempty"`
}

// ChangeJobs changes the jobs that args name, or those of the filter, and shows what became
// of each: done is what is said of one that was changed.
func ChangeJobs(r *cli.Remote, cmd *cobra.Command, args []string, c *Jobs, b client.JobBulk, done string) error {
	names := make([]job.Name, len(args))
	for i, arg := range args {
		var err error
		if names[i], err = cli.JobName(arg); err != nil {
			return err
		}
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	jobs := bulk[job.Name, client.JobBulkItem]{
		what: "job", verb: string(b.Action),
		ask: func(names []job.Name, cursor string, dryRun bool) ([]client.JobBulkItem, string, error) {
			if b.Jobs, b.Cursor, b.DryRun, b.Filter = names, cursor, dryRun, nil; len(names) == 0 {
				b.Filter = c.Filter()
			}
			answer, err := client.Read[client.JobBulkResult](api.ChangeJobs(cmd.Context(), nil, b))
			return answer.Items, answer.Next, err
		},
		result: func(item client.JobBulkItem) (job.Name, client.BulkOutcome, *client.Problem) {
			return item.Job, item.Result, item.Problem
		},
		// Runs have their ids from the request's, so asking again makes no second ones.
		again: func(item client.JobBulkItem) bool {
			return b.RunID != "" && item.Problem != nil && errors.Is(item.Problem, job.ErrUnavailable) && time.Since(b.RunID.Time()) <= RunTries*RunRetry
		},
		show: func(item client.JobBulkItem, _ bool) (any, string) {
			j := jobDone{item.Job, done, item.RunID}
			if item.Result == client.BulkOutcomeUnchanged {
				j.Result = string(item.Result)
			}
			if j.RunID != "" {
				return j, string(j.Job) + " " + j.Result + ": run " + string(j.RunID)
			}
			return j, string(j.Job) + " " + j.Result
		},
	}
	return jobs.change(r, cmd, names, &c.Options)
}

const (
	// RunTries is how often a run is asked for, while the answer is that a part of the
	// system is away. They carry the same run id, so there is one run at most.
	RunTries = 5
	// RunRetry is how long to wait before a run is asked for again.
	RunRetry = time.Second
)
