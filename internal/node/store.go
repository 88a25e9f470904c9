package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/spf13/pflag"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/standin"
)

const (
	storeSQLite = "sqlite" // a file beside the program

	// storeVariable is the environment's --store: an address holds a password, which
	// a command line shows to everybody on the machine.
	storeVariable = "CARILLON_STORE"
	// sqlVariable is the environment's --sql, for the same reason.
	sqlVariable = "CARILLON_SQL"
)

func (c *nodeConfig) storeFlags(f *pflag.FlagSet) {
	f.StringVar(&c.store, "store", "", "log store: `sqlite`, or clickhouse://USER:PASSWORD@HOST/DATABASE (in the environment as\n"+storeVariable+", which keeps the password out of process lists)")
	f.StringVar(&c.sql, "sql", "", "clickhouse://USER:PASSWORD@HOST/DATABASE with a read-only user, for \"carillon sql\" (in the\nenvironment as "+sqlVariable+"; default: SQL is disabled)")
}

// readStore completes what these flags say, so that no help text shows a password.
func (c *nodeConfig) readStore() {
	c.store = cmp.Or(c.store, os.Getenv(storeVariable), storeSQLite)
	c.sql = cmp.Or(c.sql, os.Getenv(sqlVariable))
}

// isShared says whether --store names a store that several servers use.
func isShared(store string) bool { return strings.HasPrefix(store, "clickhouse://") }

// openStore opens what --store names. A shared store that is away is no error: what
// fires does not wait for history.
func (c nodeConfig) openStore(ctx context.Context, conn *cluster.Conn, log *slog.Logger) (logstore.Store, error) {
	switch {
	case c.store == storeSQLite:
		store, err := sqlite.Open(ctx, filepath.Join(c.data, "history.db"))
		if err != nil {
			return nil, err // not store: a nil *sqlite.Store in an interface is not nil
		}
		return store, nil
	case !isShared(c.store):
		return nil, &job.InvalidError{Field: "store", Reason: fmt.Sprintf("%q must be %s or clickhouse://USER:PASSWORD@HOST/DATABASE", c.store, storeSQLite)}
	}
	store, err := clickhouse.Open(c.store, clickhouse.Config{SQL: c.sql, Lock: func(ctx context.Context) (func(), error) {
		return lockRole(ctx, conn, roleSchema, c.node)
	}})
	if err != nil {
		return nil, err
	}
	switch err := store.Prepare(ctx); {
	case errors.Is(err, job.ErrInvalid):
		return nil, errors.Join(err, store.Close())
	case err != nil:
		log.WarnContext(ctx, "log store is away; history waits on the bus", "error", err)
	}
	return store, nil
}

// stoodIn returns the store as the API asks it, and what has to run for that: while a
// shared one is away, what the streams have answers for it.
func (c nodeConfig) stoodIn(conn *cluster.Conn, store logstore.Store, log *slog.Logger) (logstore.Store, []layer) {
	if !isShared(c.store) {
		return store, nil
	}
	s := standin.New(conn, store, standin.Config{Open: openStandIn, Logger: log.With("component", "standin")})
	return s, []layer{{"standin", s.Watch, time.Second}}
}

// passing is a store in a folder that goes with it.
type passing struct {
	logstore.Store
	dir string
}

func openStandIn(ctx context.Context) (logstore.Store, error) {
	dir, err := os.MkdirTemp("", "carillon-standin-")
	if err != nil {
		return nil, fmt.Errorf("make folder of the stand-in: %w", err)
	}
	store, err := sqlite.Open(ctx, filepath.Join(dir, "history.db"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return passing{store, dir}, nil
}

// Close implements [logstore.Store].
func (p passing) Close() error { return errors.Join(p.Store.Close(), os.RemoveAll(p.dir)) }

// The leases of what one server of a cluster does at a time.
const (
	roleSchema    = "role.schema"    // changes the schema of a shared store
	roleRetention = "role.retention" // trims the history
	rolePatrol    = "role.patrol"    // audits the ledger
	roleOrphans   = "role.orphans"   // ends runs of the history that nobody has
	roleTargets   = "role.targets"   // finds jobs that miss their targets
	roleWaits     = "role.waits"     // finds the runs for which steps wait
	roleBackfills = "role.backfills" // carries out backfills of many jobs
	roleMonths    = "role.months"    // makes the reports that channels mail
)

// lockRole waits for a lease and keeps it until unlock is called.
func lockRole(ctx context.Context, conn *cluster.Conn, role, node string) (unlock func(), err error) {
	retry := time.NewTicker(jet.LeaseRenew / 3)
	defer retry.Stop()
	held, err := conn.AcquireLease(ctx, role, node, nil)
	for errors.Is(err, job.ErrConflict) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lease %s: %w", role, context.Cause(ctx))
		case <-retry.C:
			held, err = conn.AcquireLease(ctx, role, node, nil)
		}
	}
	if err != nil {
		return nil, err
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(jet.LeaseRenew)
		defer tick.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-tick.C:
				_ = held.Renew(renewing) // whoever loses it may go on: all that it guards may be done twice
			}
		}
	}()
	return func() {
		stop()
		<-done
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = held.Release(ctx) // else it ends by itself
	}, nil
}

// keep does a chore at once, then every so often and whenever now says so, until ctx is
// done.
func keep(ctx context.Context, chore string, every time.Duration, now <-chan struct{}, do func()) error {
	cron, err := gocron.NewScheduler(gocron.WithLocation(time.UTC), gocron.WithStopTimeout(time.Second))
	if err != nil {
		return fmt.Errorf("start %s: %w", chore, err)
	}
	work, err := cron.NewJob(gocron.DurationJob(every), gocron.NewTask(do),
		gocron.WithSingletonMode(gocron.LimitModeReschedule), gocron.WithStartAt(gocron.WithStartImmediately()))
	if err != nil {
		return fmt.Errorf("plan %s: %w", chore, err)
	}
	cron.Start()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-now:
			err = errors.Join(err, work.RunNow())
		}
	}
	if err := errors.Join(err, cron.Shutdown()); err != nil {
		return fmt.Errorf("stop %s: %w", chore, err)
	}
	return nil
}

// How often a server with the log store does the chores of a cluster.
const (
	orphansEvery   = 20 * time.Second
	patrolEvery    = 2 * time.Minute
	targetsEvery   = 5 * time.Minute
	waitsEvery     = time.Second // between rounds, each of which looks for a minute
	backfillsEvery = time.Second // the same
	monthsEvery    = 10 * time.Minute
)

// chore returns the layer that does rounds of a chore, at once and then every so often, one node of
// the cluster at a time.
func (c nodeConfig) chore(conn *cluster.Conn, role string, every time.Duration, round func(context.Context) error, log *slog.Logger) layer {
	name := strings.TrimPrefix(role, "role.")
	run := func(ctx context.Context) error {
		return keep(ctx, name, every, nil, func() {
			unlock, err := lockRole(ctx, conn, role, c.node)
			if err == nil {
				err = round(ctx)
				unlock()
			}
			if err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "chore failed", "chore", name, "error", err)
			}
		})
	}
	return layer{name, run, 3 * time.Second}
}
