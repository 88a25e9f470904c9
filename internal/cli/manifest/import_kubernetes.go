package manifest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/kubernetes"
	"github.com/carillon-scheduler/carillon/job"
)

// kubernetesOptions are the flags of import kubernetes.
type kubernetesOptions struct {
	kubernetes.Options
	dryRun bool
}

func newImportKubernetesCommand() *cobra.Command {
	var o kubernetesOptions
	cmd := &cobra.Command{
		Use:   "kubernetes FILE...",
		Short: "Watch CronJobs of Kubernetes: print manifests that report, and save jobs for the reports",
		Long: "Read manifests of batch/v1 CronJobs (- for standard input). Save a job for each, which waits for its\n" +
			"reports, and print the manifests with the command of the first container run by \"carillon watch\". An\n" +
			"init container brings the program. The table goes to standard error, and no cluster is asked.\n\n" +
			"The containers report to --report-to with the token in a secret, under the key \"token\". Comments\n" +
			"of the manifests are not kept. Templates of Helm must be rendered first.\n\n" +
			"With -o yaml or -o json, print the jobs as documents for \"carillon apply\". Nothing is saved, and\n" +
			"no server is needed.",
		Example: "  carillon import kubernetes cronjobs.yaml --group k8s > watched.yaml\n" +
			"  kubectl get cronjobs -A -o yaml | carillon import kubernetes - --dry-run",
		Args: cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&o.Group, "group", "default", "the `group` of the jobs")
	cmd.Flags().StringVar(&o.Image, "image", "ghcr.io/carillon-scheduler/carillon:latest", "the `image` that has the program")
	cmd.Flags().StringVar(&o.Server, "report-to", "", "`address` to which containers report (default: that of the server)")
	cmd.Flags().StringVar(&o.Secret, "secret", "carillon-watch", "`name` of the secret with the token")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the manifests and the table without saving jobs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := job.CheckSlug("group", o.Group); err != nil {
			return nothingChanged(cli.Usage(err))
		}
		if o.Server == "" {
			o.Server = r.Address()
		}
		return o.importAll(r, cmd, args)
	}
	return cmd
}

// importAll imports files. Manifests are printed once all jobs are saved.
func (o kubernetesOptions) importAll(r *cli.Remote, cmd *cobra.Command, files []string) error {
	var documents [][]byte
	var found []kubernetes.CronJob
	var jobs []imported
	seen := map[job.Name]string{}
	for _, file := range files {
		data, err := readImport("manifests", file, cmd.InOrStdin(), kubernetes.MaxFile)
		if err != nil {
			return nothingChanged(err)
		}
		docs, cronJobs, err := kubernetes.Import(file, data, o.Options)
		if err != nil {
			return nothingChanged(cli.Usage(err))
		}
		for _, c := range cronJobs {
			if other, taken := seen[c.Job.Job]; taken {
				return nothingChanged(cli.Usage(fmt.Errorf("CronJobs %s and %s are both job %s", other, c.Name, c.Job.Job)))
			}
			seen[c.Job.Job] = c.Name
			jobs = append(jobs, imported{job: c.Job, line: 1})
		}
		documents, found = append(documents, docs...), append(found, cronJobs...)
	}
	if r.Output.IsData() {
		return printJobs(cmd.OutOrStdout(), r.Output, jobs)
	}
	results, err := o.save(cmd.Context(), r, files[0], jobs)
	if err != nil {
		return nothingChanged(err)
	}
	if err := o.draw(cmd, found, results); err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for i, doc := range documents {
		if i > 0 {
			_, _ = out.WriteString("---\n")
		}
		if err := draw.WriteYAML(out, doc); err != nil {
			return fmt.Errorf("print manifests: %w", err)
		}
	}
	return out.Flush()
}

// save saves the jobs, and returns the results by job.
func (o kubernetesOptions) save(ctx context.Context, r *cli.Remote, file string, jobs []imported) (map[string]string, error) {
	p := planner{}
	var err error
	if p.api, err = r.API(); err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].job, err = asSaved(ctx, p.api, jobs[i].job); err != nil {
			return nil, err
		}
	}
	docs, err := documentsOf(file, jobs)
	if err != nil {
		return nil, err
	}
	changes, err := p.plan(ctx, docs)
	if err == nil && !o.dryRun {
		err = carryOut(ctx, p, changes)
	}
	results := map[string]string{}
	for _, c := range changes {
		results[c.Name] = c.Result
	}
	return results, err
}

// draw shows on standard error what became of each CronJob.
func (o kubernetesOptions) draw(cmd *cobra.Command, found []kubernetes.CronJob, results map[string]string) error {
	if len(found) == 0 {
		return errors.New("BUG: no CronJob")
	}
	return cli.AsTable.Show(cmd.ErrOrStderr(), cli.ClockOf(cmd), nil, func(t *draw.Table) {
		t.Row("CRONJOB", "OUTCOME", "JOB", "NOTE")
		wrapped := 0
		for _, c := range found {
			outcome := "left alone"
			if c.Wrapped {
				outcome = "wrapped"
				wrapped++
			}
			t.Row(c.Name, outcome+", "+results[string(c.Job.Job)], string(c.Job.Job), strings.Join(c.Notes, "; "))
		}
		t.Line(fmt.Sprintf("%s wrapped, %d left alone; group %s%s", draw.Count(wrapped, "CronJob"), len(found)-wrapped, o.Group, savedAs(false, o.dryRun)))
		t.Line(fmt.Sprintf("Create the secret %s with the key token in each namespace, with a token that may ping", o.Secret))
	})
}
