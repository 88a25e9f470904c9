package job

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/run"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// maxNext bounds how many fires are printed for one expression.
const maxNext = 100_000

// nextOptions are the flags of next.
type nextOptions struct {
	zone, from, dst, job string
	n                    int
	stdin                bool
}

func newNextCommand() *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next EXPR | next JOB",
		Short: "Show the next fires of a cron expression or a job",
		Long: "Show the next fires of a cron expression, without a server. With the name of a job, ask the\n" +
			"server, which knows its calendars, its spread and whether it is paused.\n\n" +
			"Five fields are Unix cron; six or seven are Quartz. @daily and similar, \"@every 90s\" and \"@at\n" +
			"2026-03-01T09:00:00Z\" work too. H depends on the job name in --job.\n\n" +
			"With --stdin, each line is an expression, a zone and a time, separated by tabs; flags fill in\n" +
			"missing values. The answer to each is one line: its fires separated by commas, \"none\" after the\n" +
			"last fire, or \"invalid\".",
		Example: "  carillon next \"30 2 * * *\" --zone Europe/Berlin -n 5\n" +
			"  carillon next \"0 0 12 ? * MON-FRI\" --from 2026-12-24T00:00:00Z\n" +
			"  carillon next \"H H * * *\" --job ops/backup\n" +
			"  carillon next ops/backup -n 10\n" +
			"  printf '0 3 * * *\\tUTC\\t2026-01-01T00:00:00Z\\n' | carillon next --stdin",
		Args: func(_ *cobra.Command, args []string) error {
			if o.stdin != (len(args) == 0) || len(args) > 1 {
				return errors.New("give one expression in quotes, or use --stdin")
			}
			return nil
		},
	}
	r := cli.NewRemote(cmd)
	cmd.ValidArgsFunction = r.JobNames
	cmd.Flags().StringVar(&o.zone, "zone", "UTC", "time `zone`, an IANA name")
	cmd.Flags().StringVar(&o.from, "from", "", "show fires after this `time` (RFC 3339; default now)")
	cmd.Flags().IntVarP(&o.n, "number", "n", 5, "number of fires to show")
	cmd.Flags().StringVar(&o.dst, "dst", "auto", "behavior when clocks change: auto, quartz, vixie, or gap=skip|fire,overlap=first|last|both")
	cmd.Flags().StringVar(&o.job, "job", "", "job `GROUP/NAME` that determines H")
	cmd.Flags().BoolVar(&o.stdin, "stdin", false, "read expressions from standard input")
	cli.Complete(cmd, "dst", "auto", "quartz", "vixie")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a, err := o.almanac(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		if o.stdin {
			return a.answerLines(cmd.InOrStdin(), cmd.OutOrStdout())
		}
		if name, err := job.ParseName(args[0]); err == nil {
			return nextOf(r, cmd, name, a)
		}
		fires, err := a.fires(args[0], a.zone, a.from)
		if err != nil {
			return err
		}
		if len(fires) > 0 {
			a.warn(cmd.ErrOrStderr(), args[0])
		}
		return r.Show(cmd.OutOrStdout(), fires, func(t *draw.Table) {
			for _, f := range fires {
				t.Line(f)
			}
			if len(fires) < a.n {
				t.Line(a.none(args[0], fires))
			}
		})
	}
	return cmd
}

// nextOf shows when a job fires, as the server says.
func nextOf(r *cli.Remote, cmd *cobra.Command, name job.Name, a *almanac) error {
	if a.n > run.MaxNextOf {
		return cli.Usage(fmt.Errorf("-n %d must be at most %d for a job", a.n, run.MaxNextOf))
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	from := a.from.UTC().Truncate(time.Millisecond)
	p, err := client.Read[client.Preview](api.PreviewJob(cmd.Context(), name.Group(), name.Short(), &client.PreviewJobParams{From: &from, N: &a.n}))
	if err != nil {
		return err
	}
	for _, w := range p.Warnings {
		_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s %s\n", w.Field, w.Reason)
	}
	return r.Show(cmd.OutOrStdout(), p, func(t *draw.Table) {
		for _, f := range p.Fires {
			line := f.FireTime.In(a.zone.Location()).Format(time.RFC3339)
			if f.Clock != nil {
				line += clockWords(f.Clock)
			}
			if f.Skipped {
				line += "  skipped: " + t.Cell(string(f.Reason), draw.NoteWidth)
			}
			t.Line(line)
		}
		switch {
		case p.Note == "" && len(p.Fires) < a.n:
			t.Line("none")
		case len(p.Fires) < a.n:
			t.Line("none: " + string(p.Note))
		case p.Note != "":
			t.Line(string(p.Note))
		}
	})
}

// clockWords says what a moved clock has to do with a fire.
func clockWords(c *client.FireClock) string {
	switch c.Kind {
	case "after_gap":
		return "  for " + c.Wall + ", which clocks skip"
	case "first_pass":
		return "  the first " + c.Wall + " of two"
	default:
		return "  the second " + c.Wall + " of two"
	}
}

// almanac answers when expressions fire.
type almanac struct {
	zone   *cron.Zone
	from   time.Time
	policy cron.Policy
	seed   uint64
	n      int
}

// almanac reads the flags. now is the default of --from.
func (o *nextOptions) almanac(now time.Time) (*almanac, error) {
	a := &almanac{from: now, n: o.n}
	var err error
	if a.zone, err = cron.LoadZone(o.zone); err != nil {
		return nil, err
	}
	if a.policy, err = cron.ParsePolicy(o.dst); err != nil {
		return nil, err
	}
	if o.from != "" {
		if a.from, err = time.Parse(time.RFC3339, o.from); err != nil {
			return nil, fmt.Errorf("--from %q must be a time in RFC 3339, such as 2026-03-01T09:00:00+01:00", o.from)
		}
	}
	if o.n < 1 || o.n > maxNext {
		return nil, fmt.Errorf("-n %d must be between 1 and %d", o.n, maxNext)
	}
	if o.job != "" {
		name, err := job.ParseName(o.job)
		if err != nil {
			return nil, err
		}
		a.seed = name.Hash()
	}
	return a, nil
}

// warn writes where an expression fires at other times than many people expect.
func (a *almanac) warn(w io.Writer, expr string) {
	s := job.Schedule{Cron: strings.TrimSpace(expr), Zone: a.zone.String()}
	for _, p := range s.Pitfalls("any/job", a.from) {
		_, _ = fmt.Fprintln(w, "warning: the expression", p.Reason)
	}
}

// none says why there is no fire after those that were found.
func (a *almanac) none(expr string, fires []string) string {
	after := a.from
	if n := len(fires); n > 0 {
		if at, err := time.Parse(time.RFC3339, fires[n-1]); err == nil {
			after = at
		}
	}
	s := job.Schedule{Cron: strings.TrimSpace(expr), Zone: a.zone.String()}
	if why := s.WhyOver("any/job", after); why != "" {
		return "none: " + why
	}
	return "none"
}

// fires returns the next fires after from, in RFC 3339 with the offset of the zone.
// There are fewer than n when there are no more.
func (a *almanac) fires(expr string, zone *cron.Zone, from time.Time) ([]string, error) {
	if _, _, ok := cron.Macro(expr); ok {
		return a.instants(expr, zone, from)
	}
	e, err := cron.Parse(expr, a.seed)
	if err != nil {
		return nil, err
	}
	fires := []string{}
	for at := from; len(fires) < a.n; {
		var ok bool
		if at, ok = e.Next(at, zone, a.policy); !ok {
			break
		}
		fires = append(fires, at.In(zone.Location()).Format(time.RFC3339))
	}
	return fires, nil
}

// instants is fires for @every and @at, which are not calendars.
func (a *almanac) instants(expr string, zone *cron.Zone, from time.Time) ([]string, error) {
	var planner job.Planner
	found, err := planner.Preview(job.Job{Schedule: job.Schedule{Cron: strings.TrimSpace(expr), Zone: zone.String()}}, from, a.n)
	if err != nil {
		return nil, err
	}
	fires := []string{}
	for _, f := range found {
		fires = append(fires, time.UnixMilli(f.At).In(zone.Location()).Format(time.RFC3339Nano))
	}
	return fires, nil
}

// answerLines answers each line of r with one line.
func (a *almanac) answerLines(r io.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if _, err := out.WriteString(a.answer(lines.Text()) + "\n"); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read expressions: %w", err)
	}
	return out.Flush()
}

func (a *almanac) answer(line string) string {
	const invalid = "invalid"
	expr, rest, _ := strings.Cut(strings.TrimSuffix(line, "\r"), "\t")
	zoneName, from, _ := strings.Cut(rest, "\t")
	from, _, _ = strings.Cut(from, "\t") // further columns mean nothing
	zone, after := a.zone, a.from
	var err error
	if zoneName != "" {
		if zone, err = cron.LoadZone(zoneName); err != nil {
			return invalid
		}
	}
	if from != "" {
		if after, err = time.Parse(time.RFC3339, from); err != nil {
			return invalid
		}
	}
	fires, err := a.fires(expr, zone, after)
	if err != nil {
		return invalid
	}
	if len(fires) < a.n {
		fires = append(fires, "none")
	}
	return strings.Join(fires, ",")
}
