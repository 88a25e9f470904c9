package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// The settings of River: it fetches every 2 ms instead of 100, and has workers enough. It inserts as
// many jobs at once as Carillon commits triggers.
const (
	riverWorkers  = 2000
	riverCooldown = 2 * time.Millisecond
	riverPoll     = 20 * time.Millisecond
	riverBatch    = 1000
)

type noop struct{}

func (noop) Kind() string { return "noop" }

type noopWorker struct{ river.WorkerDefaults[noop] }

func (*noopWorker) Work(context.Context, *river.Job[noop]) error { return nil }

// ofRiver measures River on a PostgreSQL with this synchronous_commit.
func ofRiver(commit string) func(context.Context, string, int) (result, error) {
	return func(ctx context.Context, dir string, jobs int) (_ result, err error) {
		s, pool, err := startPostgres(ctx, dir, commit)
		if err != nil {
			return result{}, err
		}
		defer func() { pool.Close(); err = errors.Join(err, s.stop(syscall.SIGINT)) }()
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
		if err != nil {
			return result{}, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return result{}, err
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, &noopWorker{})
		client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
			Logger: slog.New(slog.DiscardHandler), Workers: workers, FetchCooldown: riverCooldown, FetchPollInterval: riverPoll,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
		})
		if err != nil {
			return result{}, err
		}
		completed, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: jobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
		defer unsubscribe()
		if err := client.Start(ctx); err != nil {
			return result{}, err
		}
		defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
		end, err := begin(jobs, s)
		if err != nil {
			return result{}, err
		}
		if err := insertRiver(ctx, client, jobs); err != nil {
			return result{}, err
		}
		for range jobs { // events follow once the rows say completed
			select {
			case <-completed:
			case <-ctx.Done():
				return result{}, ctx.Err()
			}
		}
		r, err := end()
		if err != nil {
			return result{}, err
		}
		var rows int
		err = pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&rows)
		if err == nil && rows != jobs {
			err = fmt.Errorf("%d of %d jobs are completed", rows, jobs)
		}
		return r, err
	}
}

func insertRiver[T any](ctx context.Context, client *river.Client[T], jobs int) error {
	for left := jobs; left > 0; left -= riverBatch {
		params := make([]river.InsertManyParams, min(left, riverBatch))
		for i := range params {
			params[i].Args = noop{}
		}
		if _, err := client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

// startPostgres starts a PostgreSQL with the settings that it has by default, but for this one.
func startPostgres(ctx context.Context, dir, commit string) (*server, *pgxpool.Pool, error) {
	const as = "postgres"
	if os.Getuid() == 0 {
		uid, gid, err := idsOf(as)
		if err != nil {
			return nil, nil, err
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb, err := program("initdb")
	if err != nil {
		return nil, nil, err
	}
	create := exec.CommandContext(ctx, initdb, "--pgdata", data, "--username", "bench", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
	create.Dir = dir
	if err := runAs(create, as); err != nil {
		return nil, nil, err
	}
	if out, err := create.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, nil, err
	}
	postgres, err := program("postgres")
	if err != nil {
		return nil, nil, err
	}
	s, err := startServer(ctx, as, postgres, "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", dir, "-c", "synchronous_commit="+commit)
	if err != nil {
		return nil, nil, err
	}
	pool, err := pgxpool.New(ctx, fmt.Sprintf("postgres://bench@127.0.0.1:%d/postgres?pool_max_conns=20", port))
	if err == nil {
		err = s.ready(ctx, func() error { return pool.Ping(ctx) })
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.stop(syscall.SIGINT))
	}
	return s, pool, nil
}
