package ping

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// How many pings a server takes a minute: of a job, after a rest twice as many at once; with a token; and
// with tokens that nobody has from one address.
const (
	perJob     = 60
	burstOfJob = 120
	perToken   = 6000
	perAddress = 20
	// maxAddresses is how many addresses are counted apart.
	maxAddresses = 10_000
	// bytesOfGroup is how much output of an executor group is kept a minute, and burstOfGroup how much at once
	// after a rest: all groups share EVT.
	bytesOfGroup = 60 << 20
	burstOfGroup = 64 << 20
)

// retryStore is when whoever pings may try again if JetStream has not stored the ping.
const retryStore = 5 * time.Second

// MethodError says by which methods pings may come to a job. It is a problem.ErrMethod.
type MethodError struct{ Allowed []string }

func (e *MethodError) Error() string {
	return refusal.PingMethods.With(strings.Join(e.Allowed, ", "))
}

// Unwrap lets callers see problem.ErrMethod.
func (e *MethodError) Unwrap() error { return problem.ErrMethod }

// Receiver takes pings. It is safe for concurrent use. Run stores what it knows of the use of tokens.
type Receiver struct {
	tokens *auth.PingTokens
	jobs   *catalog.Search
	put    func(context.Context, *bus.Ping, string) error
	bury   func(context.Context, job.Name, error) error
	log    *slog.Logger

	ofJobs, ofTokens, ofStrangers *rate
	ofGroups                      *rate // in bytes of output

	uses uses
}

// New returns a receiver of the pings of a cluster, whose tokens users has.
func New(conn *cluster.Conn, jobs *catalog.Search, users *auth.Directory, log *slog.Logger) *Receiver {
	return &Receiver{
		tokens: users.PingTokens(), jobs: jobs, put: cluster.PingsOf(conn).Put, bury: conn.DeadLetters().BuryPing, log: log,
		ofJobs: newRate(perJob, burstOfJob, 0), ofTokens: newRate(perToken, perToken, 0), ofStrangers: newRate(perAddress, perAddress, maxAddresses),
		ofGroups: newRate(bytesOfGroup, burstOfGroup, 0),
		uses:     newUses(),
	}
}

// errNoToken is the one answer to every token that is none.
var errNoToken = fmt.Errorf("%w: there is no such address", job.ErrNotFound)

// ByToken takes a ping that came with the secret of a ping token. Errors: job.ErrNotFound for a token that
// is none or has ended, problem.ErrGone if its job was deleted, job.ErrConflict if the job is not done
// elsewhere, a *MethodError, a *problem.Later, an *InvalidError.
func (r *Receiver) ByToken(ctx context.Context, secret string, m *Message) (*api.PingAccepted, error) {
	t, known, err := r.tokens.BySecret(secret)
	switch {
	case err != nil:
		return nil, &problem.Later{Err: err, After: retryStore}
	case !known:
		if wait := r.ofStrangers.take(m.From, time.Now()); wait > 0 {
			return nil, tooMany(wait, refusal.PingsOfStrangers.With(perAddress))
		}
		return nil, errNoToken
	}
	accepted, err := r.receive(ctx, t.Job, "ping."+t.ID, t.ID, m)
	if err == nil {
		r.uses.note(t.ID, auth.PingUse{At: time.Now(), Host: m.host()})
	}
	return accepted, err
}

// ByUser takes a ping of a job from the caller, who must be one who may send it. Errors as of ByToken, but
// job.ErrNotFound if there is no such job.
func (r *Receiver) ByUser(ctx context.Context, of job.Name, m *Message) (*api.PingAccepted, error) {
	who := access.Who(ctx)
	by := "user." + who.User
	if who.Token != "" {
		by = "token." + who.Token
	}
	accepted, err := r.receive(ctx, of, by, who.User, m)
	if errors.Is(err, problem.ErrGone) {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, of)
	}
	return accepted, err
}

// host returns the host that a ping says, or its address.
func (m *Message) host() string {
	if host := m.Values["host"]; host != "" {
		return valid(host)[:min(len(valid(host)), bus.MaxPingHost)]
	}
	return m.From
}

// receive takes a ping of a job. credential is what it came with, and by what is noted of that.
func (r *Receiver) receive(ctx context.Context, of job.Name, credential, by string, m *Message) (*api.PingAccepted, error) {
	now := time.Now()
	if wait := r.ofTokens.take(credential, now); wait > 0 {
		return nil, r.refuseRate(ctx, of, wait, perToken)
	}
	watch, err := r.watch(ctx, of)
	if err != nil {
		return nil, err
	}
	if all, allowed := m.allowedBy(watch.Methods); !allowed {
		err := &MethodError{all}
		r.refuse(ctx, of, err, func(c *api.PingsRefused) { c.Method++ })
		return nil, err
	}
	if wait := r.ofJobs.take(string(of), now); wait > 0 {
		return nil, r.refuseRate(ctx, of, wait, perJob)
	}
	p, id, ignored, err := m.read(of)
	if err != nil {
		return nil, err
	}
	if r.ofGroups.takeMany(of.Group(), float64(len(p.Output)), now) > 0 {
		p.OutputCut += len(p.Output)
		p.Output = fmt.Sprintf("[%d bytes were left out: group %s sends more output than is kept]\n", p.OutputCut, of.Group())
	}
	p.By = by
	repeat := p.ID // which no other has
	if id != "" {
		repeat = credential + " " + id
	}
	if err := r.put(ctx, p, repeat); err != nil {
		if !errors.Is(err, job.ErrInvalid) { // away, or full in one of many ways
			err = &problem.Later{Err: fmt.Errorf("%w: %w", job.ErrUnavailable, err), After: retryStore}
		}
		return nil, err
	}
	return &api.PingAccepted{Ping: p.ID, Job: string(of), Ignored: ignored}, nil
}

// refuseRate counts a ping too many of a job, and returns its error.
func (r *Receiver) refuseRate(ctx context.Context, of job.Name, wait time.Duration, limit int) error {
	why := refusal.PingsOfJob.With(string(of), limit)
	r.refuse(ctx, of, errors.New(why), func(c *api.PingsRefused) { c.TooMany++ })
	return tooMany(wait, why)
}

// refuse counts a ping of a job that is refused. The first of a day becomes a dead letter, for which there are alerts.
func (r *Receiver) refuse(ctx context.Context, of job.Name, why error, count func(*api.PingsRefused)) {
	if !r.uses.refuse(of, time.Now(), count) {
		return
	}
	if err := r.bury(ctx, of, why); err != nil {
		r.log.WarnContext(ctx, "refused ping not kept", "job", of, "error", err)
	}
}

// watch returns the watch of a job. Errors: problem.ErrGone if there is no such job, job.ErrConflict if it is not
// done elsewhere, a *problem.Later.
func (r *Receiver) watch(ctx context.Context, of job.Name) (*job.Watch, error) {
	found, err := r.jobs.Task(ctx, of)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, problem.Explain(fmt.Errorf("%w: job %s", problem.ErrGone, of), refusal.PingedJobGone.With(string(of)))
	case errors.Is(err, job.ErrUnavailable):
		return nil, &problem.Later{Err: err, After: retryStore}
	case err != nil:
		return nil, err
	case found.Watch == nil:
		return nil, NotElsewhere(of)
	}
	return found.Watch, nil
}

// NotElsewhere returns the job.ErrConflict for a job that is not done elsewhere.
func NotElsewhere(of job.Name) error {
	return fmt.Errorf("%w: %s", job.ErrConflict, refusal.JobNotElsewhere.With(string(of)))
}

// tooMany returns the error of a ping too many, by what is to be said of it.
func tooMany(wait time.Duration, detail string) error {
	return &problem.Later{Err: problem.Explain(fmt.Errorf("%w pings", problem.ErrTooMany), detail), After: wait}
}
