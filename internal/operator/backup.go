package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/backup"
	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/job"
)

func newBackupCommand() *cobra.Command {
	var o operatorOptions
	var file string
	cmd := &cobra.Command{
		Use:   "backup -f FILE",
		Short: "Back up the configuration to a file",
		Long: "Write the configuration to a file: jobs and calendars with their versions, scripts, groups, users,\n" +
			"token hashes, executor credentials, sealed secrets and alert rules. It is read from NATS while\n" +
			"servers run. The backup does not contain pending and running runs, the history, or the master key;\n" +
			"store the key separately. Anyone with the file can read scripts and parameters.",
		Example: "  carillon backup -f carillon.backup --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys\n" +
			"  carillon restore -f carillon.backup --dry-run --nats tls://n1:4222",
		Args: cli.NoArgs,
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the `file` to write; replaced only when the backup is complete")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		conn, err := o.open(cmd.Context(), cmd)
		if err != nil {
			return err
		}
		defer conn.NC.Close()
		n, err := writeBackup(cmd, conn, file)
		if err != nil {
			return err
		}
		cmd.Printf("%d entries in %s\n", n, file)
		return nil
	}
	return cmd
}

// writeBackup writes a backup beside file, and then puts it in its place.
func writeBackup(cmd *cobra.Command, conn *cluster.Conn, file string) (entries int, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // readable by its owner only
	if err != nil {
		return 0, fmt.Errorf("write backup: %w", err)
	}
	entries, err = backup.Take(cmd.Context(), conn, f, build.Version())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return entries, nil
}

func newRestoreCommand() *cobra.Command {
	var o operatorOptions
	var file string
	var replicas int
	var dryRun bool
	output := cli.AsTable
	cmd := &cobra.Command{
		Use:   "restore -f FILE",
		Short: "Restore the configuration from a backup",
		Long: "Restore the file of \"carillon backup\" into an empty NATS account, before you start servers on it. The\n" +
			"command needs the server keys for NATS. It refuses an incomplete file. If a restore is interrupted,\n" +
			"run it again with the same file; no server starts until it has finished. Fires that were due since\n" +
			"the backup are not caught up. With --dry-run, show how the present configuration differs from the\n" +
			"file.",
		Example: "  carillon restore -f carillon.backup --nats tls://n1:4222 --nats-ca ca.pem --nats-keys nats.keys --replicas 3\n" +
			"  carillon restore -f carillon.backup --dry-run --nats tls://n1:4222",
		Args: cli.NoArgs,
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the `file` of the backup")
	cmd.Flags().IntVar(&replicas, "replicas", 1, "copies of each stream: 1, 3 or 5")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the differences without restoring")
	cmd.Flags().VarP(&output, "output", "o", "`format` of the answer: table, json or yaml")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return restoreSystem(cmd, &o, output, file, replicas, dryRun)
	}
	return cmd
}

// restoreSystem brings a backup back, or shows what that would change.
func restoreSystem(cmd *cobra.Command, o *operatorOptions, output cli.Format, file string, replicas int, dryRun bool) error {
	in, err := os.Open(file) //nolint:gosec // the file that the person names
	if err != nil {
		return fmt.Errorf("read backup: %w", err)
	}
	defer func() { _ = in.Close() }()
	f, err := backup.Read(in)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conn, err := o.connect(cmd)
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	if dryRun {
		list, err := differences(ctx, f, conn)
		if err != nil {
			return err
		}
		return output.Show(cmd.OutOrStdout(), cli.ClockOf(cmd), list, func(t *draw.Table) { drawDifferences(t, list) })
	}
	assets := cluster.Assets{Shards: f.Head.Shards, Partitions: f.Head.Partitions, Replicas: replicas, Restoring: true}
	if err = conn.Setup(ctx, assets); errors.Is(err, job.ErrConflict) { // it has another number of shards or partitions already
		assets.Shards, assets.Partitions = 0, 0
		err = conn.Setup(ctx, assets)
	}
	if err != nil {
		return err
	}
	if err := f.Restore(ctx, conn); err != nil {
		return err
	}
	cmd.Printf("restored the configuration of %s; start the servers with the same master key\n", cli.ClockOf(cmd).Instant(f.Head.MadeAt))
	return nil
}

// differences returns how a system differs from a backup; it need not be set up yet.
func differences(ctx context.Context, f *backup.File, conn *cluster.Conn) ([]backup.Difference, error) {
	switch err := conn.Open(ctx); {
	case errors.Is(err, jetstream.ErrBucketNotFound):
		return f.CompareWithNothing(), nil
	case err != nil:
		return nil, err
	}
	return f.Compare(ctx, conn)
}

func drawDifferences(t *draw.Table, list []backup.Difference) {
	if len(list) == 0 {
		t.Line("no differences")
		return
	}
	for _, d := range list {
		t.Row(d.What, d.Name)
	}
}
