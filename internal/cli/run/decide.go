package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func newApproveCommand() *cobra.Command {
	return decision{
		use: "approve RUN STEP", short: "Approve a step that waits for approval",
		long: "Approve a step of a running workflow that waits for approval. Its wait says who can approve it;\n" +
			"\"carillon get approvals\" lists such steps. The step succeeds once it has all approvals it needs.",
		example: "  carillon approve 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d ok --note \"tested on staging\"",
		send: func(ctx context.Context, api *client.API, id, step string, r client.DecideStepRequest) (client.StepAccepted, error) {
			return client.Read[client.StepAccepted](api.ApproveStep(ctx, id, step, nil, r))
		},
		said: func(a client.StepAccepted) string {
			if a.Status == job.StatusQueued {
				return fmt.Sprintf("approval counted; step %s needs more", a.Step)
			}
			return fmt.Sprintf("step %s approved", a.Step)
		},
	}.command()
}

func newRejectCommand() *cobra.Command {
	return decision{
		use: "reject RUN STEP", short: "Reject a step that waits for approval",
		long: "Reject a step of a running workflow that waits for approval. The step fails at once. Whoever can\n" +
			"approve it can reject it.",
		example: "  carillon reject 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d ok --note \"the migration is missing\"",
		send: func(ctx context.Context, api *client.API, id, step string, r client.DecideStepRequest) (client.StepAccepted, error) {
			return client.Read[client.StepAccepted](api.RejectStep(ctx, id, step, nil, r))
		},
		said: func(a client.StepAccepted) string { return fmt.Sprintf("step %s rejected", a.Step) },
	}.command()
}

// decision is a command that approves or rejects a step.
type decision struct {
	use, short, long, example string
	send                      func(ctx context.Context, api *client.API, id, step string, r client.DecideStepRequest) (client.StepAccepted, error)
	said                      func(client.StepAccepted) string
}

func (d decision) command() *cobra.Command {
	var note string
	cmd := &cobra.Command{Use: d.use, Short: d.short, Long: d.long, Example: d.example, Args: cobra.ExactArgs(2)}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&note, "note", "", "a `note` for the history and the audit log")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := cli.RunID(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		accepted, err := d.send(cmd.Context(), api, string(id), args[1], client.DecideStepRequest{Note: note, Key: string(job.NewRunID(time.Now()))})
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) { t.Line(d.said(accepted)) })
	}
	return cmd
}

func newGetApprovalsCommand() *cobra.Command {
	mine := false
	return cli.List[client.ApprovalList]{
		Use: "approvals", Aliases: []string{"approval"},
		Short:   "List steps that wait for approval",
		Long:    "List the steps of running workflows that wait for approval, oldest first.",
		Example: "  carillon get approvals --mine\n  carillon get approvals -o json | jq -r '.items[] | select(.may) | .run_id + \" \" + .step'",
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&mine, "mine", false, "only those that you can approve")
		},
		Fetch: func(ctx context.Context, api *client.API) (client.ApprovalList, error) {
			return client.Read[client.ApprovalList](api.ListApprovals(ctx, &client.ListApprovalsParams{Mine: &mine}))
		},
		Columns: drawApprovals,
	}.Command()
}

func drawApprovals(t *draw.Table, list client.ApprovalList) {
	if len(list.Items) == 0 {
		t.Line("no approvals")
		return
	}
	row := []string{"JOB", "RUN", "STEP", "SINCE", "UNTIL", "BY"}
	if t.Wide {
		row = append(row, "TITLE", "REQUESTED BY")
	}
	t.Row(append(row, "NOTE")...)
	for i := range list.Items {
		a := &list.Items[i]
		row := []string{string(a.Job), string(a.RunID), a.Step, t.Instant(a.Wait.Since), t.Instant(a.Wait.Expires), t.Cell(strings.Join(a.Wait.By, ", "), 60)}
		if t.Wide {
			row = append(row, draw.OrDash(t.Cell(a.Title, 60)), draw.OrDash(requester(a)))
		}
		t.Row(append(row, draw.OrDash(t.Cell(approvalNote(a), draw.NoteWidth)))...)
	}
}

// requester names who started the run of an approval; a schedule has no name.
func requester(a *client.Approval) string {
	if a.RequesterUnknown {
		return "unknown"
	}
	return a.RequestedBy
}

// approvalNote tells what is out of the ordinary about an approval.
func approvalNote(a *client.Approval) string {
	var notes []string
	if a.Wait.Min > 1 {
		notes = append(notes, givenText(&a.Wait))
	}
	if a.WhyNot != "" {
		notes = append(notes, string(a.WhyNot))
	}
	return strings.Join(notes, "; ")
}

// givenText tells how many approvals a step has of those that it needs, and by whom.
func givenText(w *runlog.Wait) string {
	text := fmt.Sprintf("%d of %d approvals", len(w.Approvals), w.Min)
	var by []string
	for _, a := range w.Approvals {
		by = append(by, a.By)
	}
	if len(by) > 0 {
		text += ", by " + strings.Join(by, ", ")
	}
	return text
}
