package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/transfer"
)

func newHistoryCopyCommand() *cobra.Command {
	var o operatorOptions
	var from, to string
	output := cli.AsTable
	cmd := &cobra.Command{
		Use:   "copy --from sqlite:DIR --to clickhouse://…",
		Short: "Copy the history from SQLite to ClickHouse",
		Long: "Copy the history of a server from its --data folder to ClickHouse, and compare the two. Stop all\n" +
			"servers first; jobs do not fire during the copy. If the copy is interrupted, run the command again:\n" +
			"it continues where it stopped. It refuses a database that already has a history, unless that is an\n" +
			"earlier copy of the same one. Nothing is deleted. Afterwards run \"carillon history release\", and\n" +
			"start the servers with --store.\n\n" +
			"The command needs the server keys for NATS, to read the retention rules. Set CARILLON_STORE instead\n" +
			"of --to to keep the password of ClickHouse out of process lists.",
		Example: "  export CARILLON_STORE='clickhouse://carillon:PASSWORD@ch1/carillon'\n" +
			"  carillon history copy --from sqlite:/var/lib/carillon --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys",
		Args: cli.NoArgs,
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&from, "from", "", "source, `sqlite:DIR`, with the --data folder of the server")
	cmd.Flags().StringVar(&to, "to", "", "target, `clickhouse`://USER:PASSWORD@HOST/DATABASE (default: from CARILLON_STORE)")
	cmd.Flags().VarP(&output, "output", "o", "`format` of the comparison: table, json or yaml")
	if err := cmd.MarkFlagRequired("from"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if to == "" {
			to = os.Getenv("CARILLON_STORE")
		}
		source, err := openSource(cmd.Context(), from)
		if err != nil {
			return err
		}
		conn, err := o.open(cmd.Context(), cmd)
		if err != nil {
			return errors.Join(err, source.Close())
		}
		defer conn.NC.Close()
		return errors.Join(copyHistory(cmd, conn, source, to, output), source.Close())
	}
	return cmd
}

// openSource opens the history in the folder of a server, which must be there.
func openSource(ctx context.Context, from string) (*sqlite.Store, error) {
	dir, ok := strings.CutPrefix(from, "sqlite:")
	if !ok || dir == "" {
		return nil, job.Invalid("from", "%q must be sqlite:DIR, with the --data folder of a server", from)
	}
	file := filepath.Join(dir, "history.db")
	if _, err := os.Stat(file); err != nil {
		return nil, job.Invalid("from", "has no history: %v", err)
	}
	return sqlite.Open(ctx, file)
}

func copyHistory(cmd *cobra.Command, conn *cluster.Conn, source *sqlite.Store, to string, output cli.Format) error {
	ctx := cmd.Context()
	if !strings.HasPrefix(to, "clickhouse://") {
		return job.Invalid("to", "must be clickhouse://USER:PASSWORD@HOST/DATABASE, as a flag or in CARILLON_STORE")
	}
	target, err := clickhouse.Open(to, clickhouse.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	if err := checkNobodyIngests(ctx, conn); err != nil {
		return err
	}
	// Where nobody has said how long, the servers' own flags do, and delete what they do not keep.
	forever := job.Retention{Default: job.Keep{Logs: job.Duration(job.LogClasses[len(job.LogClasses)-1]) * job.Duration(logstore.Day)}}
	kept, err := conn.Retention().Get(ctx, forever)
	if err != nil {
		return err
	}
	target.SetRetention(kept.Retention)
	began, last := time.Now(), time.Now()
	result, err := transfer.Copy(ctx, source, target, func(done, days int) {
		if done == days || time.Since(last) >= time.Second {
			last = time.Now()
			cmd.PrintErrf("%d of %d days copied after %s\n", done, days, time.Since(began).Round(time.Second))
		}
	})
	if err != nil {
		return err
	}
	if err := output.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), result, func(t *draw.Table) { drawCopy(t, result) }); err != nil {
		return err
	}
	if !result.Equal() {
		return errors.New("the copy differs from the history; the output shows on which days")
	}
	cmd.PrintErrln("the copy is complete; run \"carillon history release\", and start the servers with --store")
	return nil
}

// checkNobodyIngests returns job.ErrConflict while a server writes the history.
func checkNobodyIngests(ctx context.Context, conn *cluster.Conn) error {
	lease, err := conn.AcquireLease(ctx, ingest.LeaseKey, operatorName(), nil)
	if errors.Is(err, job.ErrConflict) {
		return fmt.Errorf("%w; stop all servers, and wait for 5 seconds if one was killed", err)
	}
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}

func drawCopy(t *draw.Table, r *transfer.Result) {
	row := func(what string, runs transfer.Sides, lines [2]string, equal bool) {
		word := "equal"
		if !equal {
			word = "DIFFERS"
		}
		t.Row(what, draw.Thousands(runs.Source), draw.Thousands(runs.Target), lines[0], lines[1], word)
	}
	t.Row("DAY", "RUNS", "IN COPY", "LINES", "IN COPY", "")
	for _, d := range r.Days {
		row(d.Day.Format(time.DateOnly), d.Runs, [2]string{draw.Thousands(d.Lines.Source), draw.Thousands(d.Lines.Target)}, d.Equal)
	}
	t.Line("")
	t.Row("BESIDE RUNS", "ENTRIES", "IN COPY", "", "", "")
	for _, f := range r.Facts {
		row(string(f.Kind), f.Facts, [2]string{}, f.Facts.Equal())
	}
}
