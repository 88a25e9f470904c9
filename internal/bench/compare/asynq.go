package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
)

// asynqWorkers is how many tasks are worked at once, asynqInserters how many goroutines insert: it has
// no batches.
const (
	asynqWorkers   = 64
	asynqInserters = 64
)

// ofAsynq measures asynq on a Redis with an append-only file and this appendfsync.
func ofAsynq(fsync string) func(context.Context, string, int) (result, error) {
	return func(ctx context.Context, dir string, jobs int) (_ result, err error) {
		s, redis, err := startRedis(ctx, dir, fsync)
		if err != nil {
			return result{}, err
		}
		defer func() { err = errors.Join(err, s.stop(syscall.SIGTERM)) }()
		inspector := asynq.NewInspector(redis)
		defer func() { err = errors.Join(err, inspector.Close()) }()
		if err := s.ready(ctx, func() error { _, err := inspector.Queues(); return err }); err != nil {
			return result{}, err
		}
		worker := asynq.NewServer(redis, asynq.Config{Concurrency: asynqWorkers, LogLevel: asynq.FatalLevel})
		if err := worker.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
			return result{}, err
		}
		defer worker.Shutdown()
		end, err := begin(jobs, s)
		if err != nil {
			return result{}, err
		}
		if err := insertAsynq(ctx, redis, jobs); err != nil {
			return result{}, err
		}
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		for {
			info, err := inspector.GetQueueInfo("default")
			if err == nil && info.Completed == jobs {
				return end()
			}
			select {
			case <-ctx.Done():
				return result{}, errors.Join(ctx.Err(), err)
			case <-ticks.C:
			}
		}
	}
}

// insertAsynq inserts tasks that are kept when they are completed, as Carillon and River keep theirs.
func insertAsynq(ctx context.Context, redis asynq.RedisClientOpt, jobs int) error {
	client := asynq.NewClient(redis)
	defer func() { _ = client.Close() }() // all is inserted, or an error is reported
	left := make(chan struct{}, jobs)
	for range jobs {
		left <- struct{}{}
	}
	close(left)
	failed := make([]error, asynqInserters)
	var inserters sync.WaitGroup
	for i := range asynqInserters {
		inserters.Go(func() {
			for range left {
				if _, err := client.EnqueueContext(ctx, asynq.NewTask("noop", nil), asynq.Retention(time.Hour)); err != nil {
					failed[i] = err
					return
				}
			}
		})
	}
	inserters.Wait()
	return errors.Join(failed...)
}

func startRedis(ctx context.Context, dir, fsync string) (*server, asynq.RedisClientOpt, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, asynq.RedisClientOpt{}, err
	}
	path, err := program("redis-server")
	if err != nil {
		return nil, asynq.RedisClientOpt{}, err
	}
	s, err := startServer(ctx, "", path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", fsync)
	return s, asynq.RedisClientOpt{Addr: fmt.Sprintf("127.0.0.1:%d", port), PoolSize: asynqWorkers}, err
}
