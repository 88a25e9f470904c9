package worker

import (
	"context"
	"fmt"
	"time"
)

const (
	// A process that ends is restarted after restartMin, and each time in a row after twice as
	// long, up to restartMax. One that has lived for calmAfter begins a new row.
	restartMin = 100 * time.Millisecond
	restartMax = 30 * time.Second
	calmAfter  = 30 * time.Second
)

// launch starts a process and waits for what it registers. With an error it is gone.
func (w *Workers) launch(ctx context.Context, number int) (*process, registration, error) {
	p, err := start(ctx, w.cfg, w.cfg.Logger.With("worker", number))
	if err != nil {
		return nil, registration{}, fmt.Errorf("worker process %d: %w", number, err)
	}
	timer := time.NewTimer(w.cfg.StartWithin)
	defer timer.Stop()
	var first greeting
	select {
	case first = <-p.greeting:
	case <-timer.C:
		p.kill(fmt.Sprintf("it has not registered within %s", w.cfg.StartWithin))
		<-p.ended
		first.err = p.err // has its last lines
	case <-ctx.Done():
		first.err = context.Cause(ctx)
	}
	if first.err != nil {
		p.kill(first.err.Error())
		<-p.ended
		return nil, registration{}, fmt.Errorf("worker process %d: %w", number, first.err)
	}
	return p, first.registration, nil
}

// keepRunning restarts a process each time that it ends, until life is done: then it shuts it down.
func (w *Workers) keepRunning(life context.Context, number int, p *process) {
	log := w.cfg.Logger.With("worker", number)
	wait := restartMin
	for began := time.Now(); ; began = time.Now() {
		select {
		case <-life.Done():
			p.shutdown(w.cfg.KillAfter)
			return
		case <-p.ended:
		}
		w.remove(p)
		log.WarnContext(life, "worker process ended; restarting it", "error", p.err)
		if time.Since(began) >= calmAfter {
			wait = restartMin
		}
		if p, wait = w.restart(life, number, wait); p == nil {
			return
		}
		w.add(p)
		log.InfoContext(life, "worker process restarted")
	}
}

// restart restarts a process until it registers what it did before, and returns how long to
// wait the next time. It returns nil once life is done.
func (w *Workers) restart(life context.Context, number int, wait time.Duration) (*process, time.Duration) {
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-life.Done():
			timer.Stop()
			return nil, 0
		}
		wait = min(2*wait, restartMax)
		p, reg, err := w.launch(life, number)
		if err == nil {
			how := w.reg.differs(reg)
			if how == "" {
				return p, wait
			}
			err = fmt.Errorf("worker process %d registers something else than before: %s; restart the executor", number, how)
			p.shutdown(w.cfg.KillAfter)
		}
		if life.Err() != nil {
			return nil, 0
		}
		w.setDown(err)
		w.cfg.Logger.WarnContext(life, "worker process not restarted", "error", err, "next_try_in", wait)
	}
}
