package history

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newAuditLogCommand() *cobra.Command {
	var p client.ListAuditLogParams
	var user, operation, object, name, group, since, export string
	var limit int
	cmd := &cobra.Command{
		Use:   "audit-log",
		Short: "Show who changed what",
		Long: "Show who changed what, newest first. Only administrators can read the audit log. With --export,\n" +
			"stream all matching entries as JSON lines or CSV.",
		Example: "  carillon audit-log --since 24h\n  carillon audit-log --user ann --object 'job billing/'\n" +
			"  carillon audit-log --since 90d --export csv > changes.csv",
		Args: cli.NoArgs,
	}
	r := cli.NewRemote(cmd)
	f := cmd.Flags()
	f.StringVarP(&user, "user", "u", "", "only changes by this `user`")
	f.StringVar(&operation, "operation", "", "only this `operation` of the API, such as putJob")
	f.StringVar(&object, "object", "", "only changes of objects with this `text` in their name, such as 'job billing/'")
	f.StringVar(&name, "job", "", "only changes of this `job`, alone or together with others")
	f.StringVar(&group, "group", "", "only changes in this executor `group`")
	f.StringVar(&since, "since", "", "only changes of the last `duration`, such as 24h or 30d")
	f.IntVar(&limit, "limit", 50, "maximum number of entries to show")
	f.StringVar(&export, "export", "", "stream all matching entries in this `format`: ndjson or csv")
	cli.Complete(cmd, "export", "ndjson", "csv")
	cmd.MarkFlagsMutuallyExclusive("export", "limit")
	cmd.MarkFlagsMutuallyExclusive("export", "output")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return cli.Usage(errors.New("--limit must be at least 1"))
		}
		p = client.ListAuditLogParams{User: client.Optional(user), Operation: client.Optional(operation), Object: client.Optional(object), Job: client.Optional(name), Group: client.Optional(group)}
		if since != "" {
			d, err := cli.ParseSince(since)
			if err != nil {
				return cli.Usage(err)
			}
			from := time.Now().Add(-d).UTC().Truncate(time.Millisecond)
			p.From = &from
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		if export != "" {
			return cli.ExportTo(cmd, api, "/api/v1/audit-log/export", export, cli.ChangesQuery(&p), func(h http.Header) {
				// Without the header there is no gap, as with an instant that cannot be read.
				since, _ := time.Parse(time.RFC3339, h.Get("Carillon-Since"))
				asOf, _ := time.Parse(time.RFC3339, h.Get("Carillon-As-Of"))
				tellGaps(cmd, since, asOf)
			})
		}
		page, err := changesOf(cmd.Context(), api, p, limit)
		if err != nil {
			return err
		}
		tellGaps(cmd, page.Since, page.AsOf)
		return r.Show(cmd.OutOrStdout(), page, func(t *draw.Table) { drawAudit(t, page.Items) })
	}
	return cmd
}

// tellGaps says what may be missing from the audit log.
func tellGaps(cmd *cobra.Command, since, asOf time.Time) {
	if !since.IsZero() {
		cmd.PrintErrf("the log store does not answer; changes before %s may be missing\n", cli.ClockOf(cmd).Instant(since))
	}
	if !asOf.IsZero() {
		cmd.PrintErrf("NATS does not answer; changes after %s may be missing\n", cli.ClockOf(cmd).Instant(asOf))
	}
}

// changesOf joins pages until there are limit entries.
func changesOf(ctx context.Context, api *client.API, p client.ListAuditLogParams, limit int) (client.AuditLogPage, error) {
	all := client.AuditLogPage{Items: []client.AuditEntry{}}
	for {
		n := min(limit-len(all.Items), 1000)
		p.Limit = &n
		page, err := client.Read[client.AuditLogPage](api.ListAuditLog(ctx, &p))
		if err != nil {
			return all, err
		}
		all.Items = append(all.Items, page.Items...)
		all.Since, all.AsOf = page.Since, page.AsOf
		if all.Next = page.Next; page.Next == "" || len(all.Items) >= limit {
			return all, nil
		}
		p.Cursor = &page.Next
	}
}

func drawAudit(t *draw.Table, entries []client.AuditEntry) {
	if len(entries) == 0 {
		t.Line("no changes")
		return
	}
	t.Row("AT", "USER", "BY", "FROM", "OPERATION", "OBJECT", "CHANGES")
	for _, e := range entries {
		what := e.Operation
		if e.Result != "done" {
			what += " (" + string(e.Result) + ")"
		}
		by := e.How
		if e.Assistant != "" {
			by += ", assistant " + e.Assistant
		}
		t.Row(t.Instant(e.At), t.Cell(e.User, 30), by, draw.OrDash(e.Address), what, t.Cell(e.Object, 50), t.Cell(shownChanges(t, e), 80))
	}
}

// changes returns what was changed as one line.
func shownChanges(t *draw.Table, e client.AuditEntry) string {
	var parts []string
	for _, c := range e.Changes {
		switch {
		case c.From == nil:
			parts = append(parts, c.Field+": "+shownValue(t, c.To))
		case c.To == nil:
			parts = append(parts, "without "+c.Field)
		default:
			parts = append(parts, c.Field+": "+shownValue(t, c.From)+" -> "+shownValue(t, c.To))
		}
	}
	if e.Detail != "" {
		parts = append(parts, string(e.Detail))
	}
	text := strings.Join(parts, ", ")
	if e.Note != "" {
		text = strings.TrimSpace(text + " (" + e.Note + ")")
	}
	return text
}

// value writes a value of a document: texts as they are, others as JSON.
func shownValue(t *draw.Table, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return t.ShortJSON(v)
}
