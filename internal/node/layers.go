package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"
)

// layer is a part of the process that lives as long as it: what stands later in a
// list rests on what stands before.
type layer struct {
	name string
	run  func(context.Context) error
	// limit is how long the layer may take to stop before the ones below it are
	// stopped all the same.
	limit time.Duration
}

// runLayers starts the layers in order, and runs until ctx is done or a layer ends.
// Then it stops them in reverse order, so that each finds below it what it needs for
// its last words. The error is that of the layer that ended first, if one failed.
func runLayers(ctx context.Context, log *slog.Logger, layers []layer) error {
	type live struct {
		layer
		cancel context.CancelFunc
		done   chan error
	}
	ended := make(chan string, len(layers))
	var running []live
	for _, l := range layers {
		// Each layer is cancelled by itself, in its turn.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan error, 1)
		go func() {
			done <- l.run(own)
			ended <- l.name
		}()
		running = append(running, live{l, cancel, done})
	}
	select {
	case <-ctx.Done():
		log.InfoContext(ctx, "stopping")
	case name := <-ended:
		if ctx.Err() == nil {
			log.ErrorContext(ctx, "layer ended by itself; stopping", "layer", name)
		}
	}
	var errs []error
	for _, l := range slices.Backward(running) {
		l.cancel()
		timer := time.NewTimer(l.limit)
		select {
		case err := <-l.done:
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", l.name, err))
			}
		case <-timer.C:
			errs = append(errs, fmt.Errorf("%s did not stop within %s", l.name, l.limit))
		}
		timer.Stop()
	}
	return errors.Join(errs...)
}

// tuneRuntime gives small machines more threads of Go code than cores: a lane that
// waits for one of two to be free is late.
func tuneRuntime() {
	if n := runtime.NumCPU(); n <= 4 && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(2 * n)
	}
}
