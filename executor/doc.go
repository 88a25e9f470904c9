// Package executor is the SDK with which a program registers handlers and does
// runs for one executor group.
//
//	go get github.com/carillon-scheduler/carillon/executor
//
//	e, err := executor.New(conn, executor.Config{Group: "billing"})
//	executor.Register(e, "report", func(ctx context.Context, run *executor.Run, p Params) (any, error) { … })
//	err = e.Run(ctx) // until ctx is done
//
// What the handler takes is announced, so that jobs are checked when they are saved:
// see [Register]. Tasks of other kinds are done only by programs that ask for it, with
// packages runner/shell and runner/request.
//
// A job may have its runs done in pieces, by every instance or spread over the group.
// A handler does one piece, as it would a run: [Run.Broadcast] and [Run.Item] tell
// which, and [Run.Split] asks for the list of them.
//
// # Model
//
// Any number of instances share a group; whichever has a free slot pulls the next
// trigger. Triggers of jobs with a route or labels are not pulled: a dispatcher
// chooses the instance and offers it the trigger by a request, which the instance
// accepts if it has a slot free for it. Either way the trigger stays on the bus,
// un-acknowledged, for as long as its attempt lives:
//
//	pulled, or accepted ── begun ── ended ── log flushed ── finished event stored ── acknowledged
//	         └───────────────── "in progress" every five seconds ─────────────────┘
//
// One goroutine, the loop, owns everything that is known about live attempts; each
// attempt has a goroutine of its own, which ends by handing the attempt back.
//
// # Guarantees
//
//   - A trigger is acknowledged only after JetStream has stored the finished event.
//     While it cannot (EVT is full, NATS is away) the attempt keeps its slot: an
//     executor holds back rather than lose a callback. With [Config.Spool] the event is
//     on disk meanwhile, and the next process reports it before it takes work.
//   - An executor that dies, or is cut off, for [fleet.InstanceTTL] loses its attempts:
//     with delivery at_least_once they run again elsewhere, with at_most_once they are
//     recorded as lost, never run again. Servers judge that: an executor hands them what
//     was delivered before. While NATS is away, nobody loses anything. An at_most_once
//     attempt begins once this instance's claim is stored, which JetStream takes once for as
//     long as the trigger may come again: a server that forgot a delivery does not make
//     it run twice.
//   - A redelivery to an instance that still runs the attempt, or has just ended it,
//     does not run it twice.
//   - Log lines are numbered from 1 within the attempt. A line that JetStream has
//     stored is never lost; when it stores none, the oldest lines go, and a line in
//     their place counts them. The lines of a run that has ended wait as long as its end
//     does, and a while longer. A run's log takes bounded memory, whatever it prints, and
//     has at most [Config.MaxLogLines] lines and [Config.MaxLogBytes] bytes.
//   - The secrets that a task asks for are fetched and opened before its handler begins,
//     and do not get into lines, messages, results and progress.
//   - No run outlives its end: after a timeout, a kill or a stop its context is
//     cancelled, with [ErrTimeout], [ErrCancelled] or [ErrStopping] as the cause.
//
// Not promised: that a handler which ignores its context stops. It is abandoned
// after [Config.Patience]: the run ends, its slot is free, its goroutine stays.
//
// The tests of this package that need a broker are in internal/e2e/sdk, since its module
// must not need the server.
//
// Tests of programs that use this package run handlers with package executortest, or, with the main
// module, a real bus on virtual time: see package cluster/bustest.
package executor
