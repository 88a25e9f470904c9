package callout

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// answerWithin bounds how long an answer takes, which is from memory once the
// directory is loaded.
const answerWithin = 2 * time.Second

// Config says how a Service works.
type Config struct {
	// Logger hears of who is turned away and cut off. Defaults to none.
	Logger *slog.Logger
	// Registerer takes the package's metrics. Defaults to none.
	Registerer prometheus.Registerer
	// Budget is how many bytes a second the executors of a group may send together, for
	// long. A message counts as 512 bytes more than it has. Defaults to [DefaultBudget].
	Budget int64
	// Connections is how many connections the executors of a group may have together.
	// Defaults to [DefaultConnections].
	Connections int
}

// Service answers NATS. Several may run on the same servers, each in a process of its
// own: one of them gets a question, and any of them cuts off who is to go.
type Service struct {
	users     *auth.Directory
	conn      *cluster.Conn
	system    *nats.Conn
	budgets   *budgets
	giveBacks giveBacks
	crowds    *crowds
	issuer    nkeys.KeyPair
	log       *slog.Logger // in steps: executors can cause most lines
	metrics   *metrics
	served    []string // groups that credentials act for, or did; the sweeps' own

	evts []*jetstream.StreamInfo // the streams of events as they last were; nil: not known. lookAtRoom's own
}

// New returns a service. conn is of the account CARILLON, system of SYS; both outlive
// Run. keys are those whose public halves NATS is configured with.
func New(conn *cluster.Conn, system *nats.Conn, keys Keys, cfg Config) (*Service, error) {
	issuer, err := nkeys.FromSeed([]byte(keys.Issuer))
	if err != nil {
		return nil, &job.InvalidError{Field: "nats-keys", Reason: "has no key of an issuer"}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	return &Service{
		users: auth.NewDirectory(conn, cfg.Logger), conn: conn, system: system, budgets: newBudgets(cfg.Budget), giveBacks: giveBacks{groups: map[string]*giver{}}, crowds: newCrowds(cfg.Connections), issuer: issuer, log: doubling.Logger(cfg.Logger), metrics: m,
	}, nil
}

// Run answers until ctx is done; then it returns nil.
func (s *Service) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.users.Run(ctx) })
	g.Go(func() error { return s.serve(ctx) })
	return g.Wait()
}

// subjectAuth is where NATS asks, and queue the group of those who answer.
const (
	subjectAuth = "$SYS.REQ.USER.AUTH"
	queue       = "carillon"
)

// serve answers questions, and sweeps when credentials change and every so often.
func (s *Service) serve(ctx context.Context) error {
	// A server that has not read all users and credentials yet must turn nobody away.
	if err := s.users.Credentials().Wait(ctx); err != nil {
		return nil // ctx is done
	}
	questions := make(chan *nats.Msg, 1024)
	sub, err := s.system.ChanQueueSubscribe(subjectAuth, queue, questions)
	if err != nil {
		return fmt.Errorf("subscribe to questions of NATS: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	stop, err := s.hearSpending(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var g errgroup.Group
	g.Go(func() error { s.sweepOften(ctx); return nil })
	g.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case m := <-questions:
				s.answer(ctx, m)
			}
		}
	})
	return g.Wait()
}

// answer answers one question. What is no question gets no answer.
func (s *Service) answer(ctx context.Context, m *nats.Msg) {
	q, err := jwt.DecodeAuthorizationRequestClaims(string(m.Data))
	if err != nil {
		s.log.WarnContext(ctx, "question of NATS cannot be read", "error", err)
		return
	}
	limited, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c, err := s.judge(limited, q)
	if err == nil {
		err = s.budgets.check(c.Serves(), time.Now())
	}
	conn := connection{q.Server.ID, q.ClientInformation.ID}
	if err == nil {
		err = s.crowds.admit(c.Group, conn, time.Now())
	}
	a := jwt.NewAuthorizationResponseClaims(q.UserNkey)
	a.Audience = q.Server.ID
	if err == nil {
		a.Jwt, err = s.admit(q.UserNkey, c)
	}
	if err != nil {
		a.Error = err.Error()
		s.metrics.connections.WithLabelValues(refusalOf(err)).Inc()
		s.log.WarnContext(ctx, "connection to NATS refused", "executor_group", groupOf(c), "name", q.ClientInformation.Name, "address", q.ClientInformation.Host, "reason", err)
	} else {
		s.metrics.connections.WithLabelValues(resultAdmitted).Inc()
		s.log.InfoContext(ctx, "executor admitted", "executor_group", c.Group, "credential", c.ID, "address", q.ClientInformation.Host)
	}
	text, err := a.Encode(s.issuer)
	if err == nil {
		err = m.Respond([]byte(text))
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "NATS not answered", "error", err)
	}
}

// refusalOf returns how a connection that was refused is counted.
func refusalOf(err error) string {
	if full := new(fullError); errors.As(err, &full) {
		return resultTooMany
	}
	return resultRefused
}

// errNoKey is what a client without a credential is told.
var errNoKey = errors.New("a credential of an executor group is needed, and its holder's signature")

// judge returns the credential that a client has proved to have.
func (s *Service) judge(ctx context.Context, q *jwt.AuthorizationRequestClaims) (*auth.Credential, error) {
	opts := q.ConnectOptions
	key, err := nkeys.FromPublicKey(opts.Nkey)
	if err != nil || q.ClientInformation.Nonce == "" {
		return nil, errNoKey
	}
	signature, err := base64.RawURLEncoding.DecodeString(opts.SignedNonce)
	if err != nil {
		signature, err = base64.StdEncoding.DecodeString(opts.SignedNonce)
	}
	if err != nil || key.Verify([]byte(q.ClientInformation.Nonce), signature) != nil {
		return nil, errNoKey
	}
	c, err := s.users.Credentials().ByPublicKey(ctx, opts.Nkey)
	if errors.Is(err, auth.ErrUnauthenticated) {
		return nil, errors.New("the credential is unknown, was revoked or has ended")
	}
	return c, err
}

// userPrefix begins the names of users that are admitted with a credential.
const userPrefix = "carillon/"

// admit returns the user of NATS that a credential stands for.
func (s *Service) admit(key string, c *auth.Credential) (string, error) {
	u := jwt.NewUserClaims(key)
	u.Name = userPrefix + c.Group + "/" + c.ID
	u.Audience = accountExecutors
	u.Pub.Allow, u.Sub.Allow = s.permissions(c)
	u.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: 2 * time.Minute}
	if !c.ExpiresAt.IsZero() {
		u.Expires = c.ExpiresAt.Unix()
	}
	text, err := u.Encode(s.issuer)
	if err != nil {
		return "", fmt.Errorf("sign user: %w", err)
	}
	return text, nil
}

func (s *Service) permissions(c *auth.Credential) (publish, subscribe jwt.StringList) {
	if len(c.BridgeGroups) > 0 {
		return bus.BridgePermissions(c.BridgeGroups, s.conn.Cluster().Partitions)
	}
	return bus.ExecutorPermissions(c.Group, s.conn.Cluster().Partitions)
}

// holderOf is the inverse of a user's name.
func holderOf(user string) (group, credential string, ok bool) {
	rest, ok := strings.CutPrefix(user, userPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}

// groupOf returns the group of a credential, or nothing if there is none.
func groupOf(c *auth.Credential) string {
	if c == nil {
		return ""
	}
	return c.Group
}
