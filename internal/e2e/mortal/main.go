//go:build unix

// Command mortal is an executor of shell tasks that kills itself, as SIGKILL does, at
// the instants of an attempt at which a death is hardest to make up for. Which attempts
// are its death follows from their names, so that another executor gets past them; and
// it dies at their first delivery only.
//
//	mortal GROUP INSTANCE NATS UNTIL
//
// After UNTIL, an instant as RFC 3339 has it, it dies no more. Each time it says so first,
// as "dies: " and where.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/shell"
)

// Of so many attempts one is a death.
const (
	shareAcked   = 250 // its end is stored, and its trigger not acknowledged
	shareTaken   = 250 // it was taken, and has not begun
	shareInPiece = 25  // of the pieces of a run: in the middle of it
)

const (
	slots = 128
	// aMoment is how long an instance takes to say that it has taken what it was offered,
	// and amid how long after a piece has begun it is in the middle of it.
	aMoment = 100 * time.Millisecond
	amid    = 150 * time.Millisecond
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mortal:", err)
		os.Exit(1) //nolint:gocritic // the process ends, and with it what stop would undo
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("has %d arguments; want GROUP INSTANCE NATS UNTIL", len(args))
	}
	until, err := time.Parse(time.RFC3339, args[3])
	if err != nil {
		return fmt.Errorf("read UNTIL: %w", err)
	}
	m := mortal{Handler: shell.Runner(shell.Config{}), until: until}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	conn, err := jet.Await(ctx, jet.Config{
		URL: args[2], Name: "mortal", Logger: log, Inbox: bus.ExecutorInbox(args[0]),
		Options: []nats.Option{nats.SetCustomDialer(dialer{m})},
	})
	if err != nil {
		return err
	}
	defer conn.NC.Close()
	e, err := executor.New(conn, executor.Config{Group: args[0], Instance: args[1], Slots: slots, Logger: log})
	if err != nil {
		return err
	}
	e.HandleKind(job.KindShell, m)
	return e.Run(ctx)
}

// mortal does what its handler does, unless it dies of it.
type mortal struct {
	executor.Handler
	until time.Time
}

// fatal reports whether this delivery of the named attempt kills the executor, as one
// in share does.
func (m mortal) fatal(share uint32, name string, delivery int) bool {
	if delivery != 1 || time.Now().After(m.until) {
		return false
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum32()%share == 0
}

// die ends the process as a crash does.
func (mortal) die(where string) {
	fmt.Fprintln(os.Stderr, "dies:", where)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// Handle does the task of r, or dies.
func (m mortal) Handle(ctx context.Context, r *executor.Run) (any, error) {
	index, total := r.Broadcast()
	name := fmt.Sprintf("%s %d %d", r.ID(), r.Attempt(), index)
	if m.fatal(shareTaken, "taken "+name, r.Delivered()) {
		answered := time.NewTimer(aMoment)
		defer answered.Stop()
		select {
		case <-answered.C:
			m.die("before the start")
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if total > 1 && m.fatal(shareInPiece, "piece "+name, r.Delivered()) {
		time.AfterFunc(amid, func() { m.die("in a piece") })
	}
	return m.Handler.Handle(ctx, r)
}
