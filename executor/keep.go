package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// keepAfter is how long an end may wait to be stored before it is kept on disk. Without a
// connection it is kept at once.
const keepAfter = 500 * time.Millisecond

// keeper holds on disk what is still to be said of one attempt that has ended, for the
// next process, in case this one ends first. A nil keeper does nothing.
type keeper struct {
	e     *Executor
	r     *Run
	end   *bus.End // nil: the attempt is given back
	name  string
	timer *time.Timer

	mu      sync.Mutex
	written bool
	cut     bool // without the lines
	over    bool
}

// keep begins to keep the end of r, and the lines that are not stored. r's log takes no
// more lines.
func (e *Executor) keep(r *Run, end *bus.End) *keeper {
	if e.spool == nil {
		return nil
	}
	t := r.trigger
	k := &keeper{e: e, r: r, end: end, name: fmt.Sprintf("%s.%d.%d.%d%s", t.RunID, t.Attempt, t.Index, r.delivered, spoolSuffix)}
	if e.conn.NC.IsConnected() {
		k.timer = time.AfterFunc(keepAfter, k.write)
	} else {
		k.write()
	}
	return k
}

// write writes the file, once.
func (k *keeper) write() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over && !k.written {
		k.writeLocked()
	}
}

func (k *keeper) writeLocked() {
	content := &kept{Format: spoolFormat, Group: k.e.cfg.Group}
	if k.end != nil {
		m, err := k.end.Msg(k.e.out.maxPayload())
		if err != nil {
			k.e.log.Error("the end of the run is not kept on disk", "run_id", k.r.ID(), "error", err)
			return
		}
		end := keepMessage(m)
		content.End = &end
	}
	batches, lines := k.r.log.unsent()
	if k.end == nil && lines == 0 {
		return
	}
	for _, batch := range batches {
		content.Lines = append(content.Lines, keepMessage(batch))
	}
	err := k.e.spool.write(k.name, content)
	if err != nil && lines > 0 { // the spool or the disk is full, and the end matters more
		k.e.log.Error("the log lines of the run are not kept on disk", "run_id", k.r.ID(), "lines", lines, "error", err)
		content.Lines, k.cut = nil, true
		for _, notice := range k.r.log.noticeOf(lines) {
			content.Lines = append(content.Lines, keepMessage(notice))
		}
		err = k.e.spool.write(k.name, content)
	}
	if err != nil {
		k.e.log.Error("what the run reported is not kept on disk, and is lost if this executor ends before NATS stores it", "run_id", k.r.ID(), "error", err)
		return
	}
	k.written = true
}

// done ends the keeping: if all is stored the file goes, else it stays for the next process.
// It reports whether the lines that are not stored are there.
func (k *keeper) done(stored bool) (kept bool) {
	if k == nil {
		return false
	}
	if k.timer != nil {
		k.timer.Stop()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	switch {
	case stored && k.written:
		if err := k.e.spool.remove(k.name); err != nil {
			k.e.log.Error("spool file not removed", "file", k.name, "error", err)
		}
	case !stored && !k.written:
		k.writeLocked()
	}
	return !stored && k.written && !k.cut
}

// reportKept publishes what earlier processes have kept: all ends, until they are stored,
// then the lines, for no longer than logLinger. What is stored is removed, and what cannot
// be read is put aside. It returns early when ctx is done.
func (e *Executor) reportKept(ctx context.Context) {
	names, err := e.spool.files()
	if err != nil {
		e.log.ErrorContext(ctx, "spool not read", "error", err)
	}
	files := map[string]*kept{}
	for _, name := range names {
		k, err := e.spool.read(name, e.cfg.Group)
		if err != nil {
			e.refuseKept(ctx, name, err)
			continue
		}
		if k.End != nil {
			err = e.out.publishUntilStored(ctx, k.End.msg(), "file", name)
		}
		switch {
		case errors.Is(err, nats.ErrMaxPayload):
			e.refuseKept(ctx, name, err)
		case err != nil:
			return
		default:
			files[name] = k
		}
	}
	lingering, cancel := context.WithTimeout(ctx, logLinger)
	defer cancel()
	for name, k := range files {
		switch err := e.reportLines(lingering, name, k.Lines); {
		case errors.Is(err, nats.ErrMaxPayload):
			e.refuseKept(ctx, name, err)
			continue
		case err != nil:
			e.log.WarnContext(ctx, "log lines that an earlier process kept are not stored, and stay on disk until the next start", "file", name, "error", err)
			continue
		}
		if err := e.spool.remove(name); err != nil {
			e.log.ErrorContext(ctx, "spool file not removed", "file", name, "error", err)
		}
		e.log.InfoContext(ctx, "reported what an earlier process kept on disk", "file", name)
	}
}

func (e *Executor) reportLines(ctx context.Context, file string, batches []keptMessage) error {
	for i := range batches {
		if err := e.out.publishUntilStored(ctx, batches[i].msg(), "file", file); err != nil {
			return err
		}
	}
	return nil
}

func (e *Executor) refuseKept(ctx context.Context, name string, reason error) {
	err := e.spool.refuse(name)
	e.log.ErrorContext(ctx, "spool file cannot be reported, and is put aside", "file", name+refusedSuffix, "error", errors.Join(reason, err))
}
