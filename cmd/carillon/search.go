package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/logstore"
)

// maxHits is the most lines that the API gives at once.
const maxHits = 1000

func newSearchCommand() *cobra.Command {
	var f runFilter
	var levels []string
	var limit int
	cmd := &cobra.Command{
		Use:   "search TEXT...",
		Short: "Find lines in the logs of all runs",
		Long: "Find lines that have all of the words, in any order and case, newest run first. What stands in double quotes within\n" +
			"an argument must stand so in the line. Each line is shown with its job, run, attempt and number.\n" +
			"With -o json each line is an object of its own.",
		Example: "  carillon search timeout db-7\n" +
			"  carillon search '\"connection refused\"' --group billing --since 7d\n" +
			"  carillon search --level error --job ops/backup --since 24h -o json",
	}
	r := newRemote(cmd)
	cmd.Flags().StringSliceVar(&levels, "level", nil, "only lines of this `level`, or these")
	cmd.Flags().StringSliceVar(&f.jobs, "job", nil, "only lines of this `job`, or these")
	cmd.Flags().StringVar(&f.group, "group", "", "only lines of this executor `group`")
	cmd.Flags().StringVar(&f.since, "since", "", "only of fires of the last `duration`, such as 90m or 7d")
	cmd.Flags().StringVar(&f.from, "from", "", "only of fires at or after this `instant`, in RFC 3339")
	cmd.Flags().StringVar(&f.to, "to", "", "only of fires before this `instant`, in RFC 3339")
	cmd.Flags().IntVar(&limit, "limit", 100, "the most lines to show; 0 is all")
	cmd.MarkFlagsMutuallyExclusive("since", "from")
	complete(cmd, "level", "debug", "info", "warn", "error")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case limit < 0:
			return usage(errors.New("--limit must not be negative"))
		case r.output == asYAML:
			return usage(errors.New("-o yaml is not for logs; use json"))
		case len(args) == 0 && len(levels) == 0:
			return usage(errors.New("say what to look for: words, or --level"))
		}
		runs, err := f.params(time.Now())
		if err != nil {
			return usage(err)
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		params := client.SearchLogsParams{
			Text: client.Optional(strings.Join(args, " ")), Level: client.OptionalList(words[client.Level](levels)),
			Job: runs.Job, Group: runs.Group, From: runs.From, To: runs.To,
		}
		p := linePrinter{w: cmd.OutOrStdout(), json: r.output == asJSON}
		return search(cmd.Context(), api, params, limit, p)
	}
	return cmd
}

// search prints pages of lines as they come, until there are limit of them.
func search(ctx context.Context, api *client.API, params client.SearchLogsParams, limit int, p linePrinter) error {
	for left := limit; ; {
		n := maxHits
		if limit > 0 {
			n = min(left, maxHits)
		}
		params.Limit = &n
		page, err := client.Read[client.LogHits](api.SearchLogs(ctx, &params))
		if err != nil {
			return err
		}
		if !p.json {
			for i, l := range page.Items {
				attempt := strconv.Itoa(l.Attempt)
				if l.Piece != logstore.Whole {
					attempt += fmt.Sprintf(" piece %d", l.Piece.Index())
				}
				page.Items[i].Text = fmt.Sprintf("%s  %-5s  %s  %s/%s:%d  %s", l.At.UTC().Format(time.RFC3339), l.Level, l.Job, l.RunID, attempt, l.Seq, l.Text)
			}
		}
		if err := p.print(page.Items); err != nil {
			return err
		}
		left -= len(page.Items)
		if page.Next == "" || limit > 0 && left <= 0 {
			return nil
		}
		params.Cursor = &page.Next
	}
}
