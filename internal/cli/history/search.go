package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// maxHits is the most lines that the API gives at once.
const maxHits = 1000

// searchOptions are the flags of "carillon search".
type searchOptions struct {
	selection.RunFilter

	levels               []string
	limit, around, parts int
	follow               bool
	run, colour          string
}

func newSearchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search TEXT...",
		Short: "Search the logs of all runs",
		Long: "Find log lines that contain all words, in any order and case, newest run first. Put * beside a\n" +
			"part of a word: 'time*', '*out', '*meo*'. Words of Chinese and other scripts without spaces are\n" +
			"found inside sentences. Text in double quotes inside an argument must match as a phrase. Each line\n" +
			"is shown with its job, run, attempt and number. Context lines (--around) have a \"-\" after the\n" +
			"number. --count 24 divides the range (by default the last seven days) into 24 intervals and counts\n" +
			"the lines in each. With -o json, each line is a JSON object with highlights, before and after.",
		Example: "  carillon search timeout db-7\n" +
			"  carillon search '\"connection refused\"' --group billing --since 7d -C 3\n" +
			"  carillon search --level error --job ops/backup --since 24h -o json\n" +
			"  carillon search '*timeout*' 连接失败 --since 24h\n" +
			"  carillon search timeout --since 24h --count 24\n" +
			"  carillon search timeout --group billing --follow\n" +
			"  carillon search deadlock --run 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d",
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringSliceVar(&o.levels, "level", nil, "only lines of this `level`; can be repeated")
	cmd.Flags().StringSliceVar(&o.Jobs, "job", nil, "only lines of this `job`; can be repeated")
	cmd.Flags().StringVar(&o.Group, "group", "", "only lines of this executor `group`")
	cmd.Flags().StringVar(&o.run, "run", "", "only lines of this `run`")
	cmd.Flags().StringVar(&o.Since, "since", "", "only fires of the last `duration`, such as 90m or 7d")
	cmd.Flags().StringVar(&o.From, "from", "", "only fires at or after this `time` (RFC 3339)")
	cmd.Flags().StringVar(&o.To, "to", "", "only fires before this `time` (RFC 3339)")
	cmd.Flags().IntVar(&o.limit, "limit", 100, "maximum number of lines to show; 0 shows all")
	cmd.Flags().IntVarP(&o.around, "around", "C", 0, "number of `lines` to show before and after each one, at most 20")
	cmd.Flags().IntVar(&o.parts, "count", 0, "count the lines in this number of `intervals`, at most 240, instead of showing them")
	cmd.Flags().StringVar(&o.colour, "color", "auto", "highlight matches: auto (on a terminal, unless NO_COLOR is set), always or never")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "stream new lines until interrupted, at most 500 per second")
	cmd.MarkFlagsMutuallyExclusive("since", "from")
	for _, other := range []string{"since", "from", "to", "run", "around", "count", "limit"} {
		cmd.MarkFlagsMutuallyExclusive("follow", other)
	}
	cmd.MarkFlagsMutuallyExclusive("count", "limit")
	cmd.MarkFlagsMutuallyExclusive("count", "around")
	cli.Complete(cmd, "level", "debug", "info", "warn", "error")
	cli.Complete(cmd, "color", "auto", "always", "never")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := o.check(r, words); err != nil {
			return err
		}
		return o.search(cmd, r, strings.Join(words, " "))
	}
	return cmd
}

// check returns a usage error for flags that search does not take.
func (o *searchOptions) check(r *cli.Remote, words []string) error {
	switch {
	case o.limit < 0:
		return cli.Usage(errors.New("--limit must not be negative"))
	case o.around < 0 || o.around > maxAround:
		return cli.Usage(fmt.Errorf("--around must be from 0 to %d", maxAround))
	case o.parts < 0 || o.parts > maxCounted:
		return cli.Usage(fmt.Errorf("--count must be from 1 to %d", maxCounted))
	case !slices.Contains([]string{"auto", "always", "never"}, o.colour):
		return cli.Usage(errors.New("--color must be auto, always or never"))
	case r.Output == cli.AsYAML:
		return cli.Usage(errors.New("-o yaml is not supported for logs; use -o json"))
	case len(words) == 0 && len(o.levels) == 0 && o.run == "" && !o.follow:
		return cli.Usage(errors.New("set what to search for: words, --level or --run"))
	}
	return nil
}

// search shows the lines with text, as they come with --follow, or counts them with --count.
func (o *searchOptions) search(cmd *cobra.Command, r *cli.Remote, text string) error {
	runs, err := o.Params(time.Now())
	if err != nil {
		return cli.Usage(err)
	}
	if o.run != "" {
		if _, err := cli.RunID(o.run); err != nil {
			return err
		}
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	p := hitPrinter{w: out, clock: r.Clock(), json: r.Output == cli.AsJSON}
	if o.follow {
		return watchLogs(cmd, api, o.watched(text), p)
	}
	params := client.SearchLogsParams{
		Text: client.Optional(text), Level: client.OptionalList(cli.Words[client.Level](o.levels)), RunID: client.Optional(o.run),
		Job: runs.Job, Group: runs.Group, From: runs.From, To: runs.To, Context: client.Optional(o.around),
	}
	if o.parts > 0 {
		counts, err := countHits(cmd.Context(), api, params, o.parts)
		if err != nil {
			return err
		}
		return r.Show(out, counts, func(t *draw.Table) { drawHitCounts(t, counts) })
	}
	p.mark = o.colour == "always" || o.colour == "auto" && os.Getenv("NO_COLOR") == "" && showsColour(out)
	found, err := search(cmd.Context(), api, params, o.limit, p)
	if err == nil && found == 0 && !p.json {
		cmd.PrintErrln("no lines found") // on standard error, because it is not one of the lines
	}
	return err
}

// watched returns the lines to stream, as the API takes them.
func (o *searchOptions) watched(text string) url.Values {
	query := url.Values{"level": o.levels, "job": o.Jobs}
	if text != "" {
		query.Set("text", text)
	}
	if o.Group != "" {
		query.Set("group", o.Group)
	}
	return query
}

// watchLogs prints lines as they come, and on standard error how many more there are than
// that.
func watchLogs(cmd *cobra.Command, api *client.API, query url.Values, p hitPrinter) error {
	errOut := cmd.ErrOrStderr()
	return api.Watch(cmd.Context(), query, cli.OnInterruption(errOut), func(hits []client.LogHit, rate client.LogRate) error {
		if rate.Lines > rate.Shown {
			_, _ = fmt.Fprintf(errOut, "%d lines per second; %d shown\n", rate.Lines, rate.Shown)
		}
		return p.print(hits)
	})
}

// maxCounted is the most parts in which the API counts lines.
const maxCounted = 240

// maxAround is the most lines before and after a hit that the API gives.
const maxAround = 20

func showsColour(w io.Writer) bool {
	f, ok := draw.FileOf(w)
	return ok && isatty.IsTerminal(f.Fd())
}

// search prints pages of lines as they come, until there are limit of them.
func search(ctx context.Context, api *client.API, params client.SearchLogsParams, limit int, p hitPrinter) (found int, err error) {
	for left := limit; ; {
		n := maxHits
		if limit > 0 {
			n = min(left, maxHits)
		}
		params.Limit = &n
		page, err := client.Read[client.LogHits](api.SearchLogs(ctx, &params))
		if err != nil {
			return found, err
		}
		if err := p.print(page.Items); err != nil {
			return found, err
		}
		found += len(page.Items)
		left -= len(page.Items)
		if page.Next == "" || limit > 0 && left <= 0 {
			return found, nil
		}
		params.Cursor = &page.Next
	}
}

// hitPrinter prints what a search has found.
type hitPrinter struct {
	w     io.Writer
	clock draw.Clock
	json  bool
	mark  bool // what was searched for, for a terminal
}

const (
	markOn  = "\x1b[1;31m"
	markOff = "\x1b[0m"
)

func (p *hitPrinter) print(hits []client.LogHit) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range hits {
		h := &hits[i]
		if p.json {
			if err := enc.Encode(h); err != nil {
				return fmt.Errorf("encode a line: %w", err)
			}
			continue
		}
		for j := range h.Before {
			b.WriteString(p.line(&h.Before[j], h.Step, '-', h.Before[j].Text))
		}
		text := h.Text
		if p.mark {
			text = marked(text, h.Highlights)
		}
		b.WriteString(p.line(&h.Line, h.Step, ':', text))
		for j := range h.After {
			b.WriteString(p.line(&h.After[j], h.Step, '-', h.After[j].Text))
		}
		if len(h.Before)+len(h.After) > 0 {
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(p.w, b.String())
	return err
}

func (p *hitPrinter) line(l *client.LogLine, step string, mark byte, text string) string {
	of := string(l.Job)
	if step != "" {
		of += " step " + step
	}
	attempt := strconv.Itoa(l.Attempt)
	if l.Piece != runlog.Whole {
		attempt += fmt.Sprintf(" piece %d", l.Piece.Index())
	}
	return fmt.Sprintf("%s  %-5s  %s  %s/%s:%d%c %s\n", p.clock.Format(l.At, time.RFC3339), l.Level, of, l.RunID, attempt, l.Seq, mark, text)
}

// marked writes text with ranges of it marked for a terminal.
func marked(text string, ranges []runlog.Range) string {
	chars := []rune(text)
	var b strings.Builder
	at := 0
	for _, r := range ranges {
		if r.From < at || r.To > len(chars) || r.To < r.From {
			break
		}
		b.WriteString(string(chars[at:r.From]) + markOn + string(chars[r.From:r.To]) + markOff)
		at = r.To
	}
	return b.String() + string(chars[at:])
}
