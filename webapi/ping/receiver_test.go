package ping

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// server is a receiver with what it knows from, in a bubble.
type server struct {
	*testing.T
	conn  *cluster.Conn
	users *auth.Directory
	*Receiver
}

func (s *server) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// serve returns a server that runs until the test ends.
func serve(t *testing.T, conn *cluster.Conn) *server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	users := auth.NewDirectory(conn, log)
	jobs := catalog.New(conn, nil, nodes.New(conn, log), catalog.Limits{}, func(job.Name) {}, log)
	s := &server{T: t, conn: conn, users: users, Receiver: New(conn, jobs.Search(), users, log)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	go func() { ended <- users.Run(ctx) }()
	go func() { ended <- jobs.Run(ctx) }()
	go func() { s.Receiver.Run(ctx); ended <- nil }()
	t.Cleanup(func() {
		cancel()
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	<-jobs.Ready()
	return s
}

// token makes a token of the backup.
func (s *server) token() (*auth.PingToken, string) {
	s.Helper()
	t, secret, err := s.users.PingTokens().Create(s.Context(), backup, "ann", false, 0)
	s.check(err)
	return t, secret
}

func (s *server) ping(secret, host string) error {
	_, err := s.ByToken(s.Context(), secret, &Message{Method: "POST", Values: map[string]string{"host": host}, From: "192.0.2.1"})
	return err
}

// lastHost returns where the token of the backup was last used, as far as a server knows.
func (s *server) lastHost() string {
	s.Helper()
	tokens, err := s.users.PingTokens().OfJob(s.Context(), backup)
	s.check(err)
	return s.LastUse(&tokens[0]).Host
}

func watched(t *testing.T, conn *cluster.Conn) {
	t.Helper()
	j, err := job.Decode([]byte(`{"job":"ops/backup","task":{"watch":"30m"}}`))
	if err == nil {
		_, _, err = conn.Jobs().Put(t.Context(), j, cluster.Edit{At: time.Now(), Author: "ann"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryServerTakesPingsAndLearnsOfTheUseOfTokens(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		first := serve(t, clustertest.Setup(t, broker, "first", 4))
		watched(t, first.conn)
		second := serve(t, clustertest.Open(t, broker, "second"))
		_, secret := first.token()
		time.Sleep(time.Second)
		first.check(first.ping(secret, "web1"))
		if first.lastHost() != "web1" || second.lastHost() != "" {
			t.Errorf("at once: %q, and %q elsewhere", first.lastHost(), second.lastHost())
		}
		time.Sleep(storeEvery + time.Second)
		if second.lastHost() != "web1" {
			t.Errorf("a minute later: %q elsewhere", second.lastHost())
		}
		second.check(second.ping(secret, "")) // by its address
		time.Sleep(storeEvery + time.Second)
		if first.lastHost() != "web1" || second.lastHost() != "192.0.2.1" {
			t.Errorf("within the hour: %q, and %q elsewhere", second.lastHost(), first.lastHost())
		}
		time.Sleep(time.Hour)
		second.check(second.ping(secret, "web2"))
		time.Sleep(storeEvery + time.Second)
		if first.lastHost() != "web2" {
			t.Errorf("an hour later: %q elsewhere", first.lastHost())
		}
	})
}

func TestAServerForgetsATokenThatIsRevokedAndNotesAJobThatIsGone(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		s := serve(t, clustertest.Setup(t, bustest.NewBroker(t), "first", 4))
		watched(t, s.conn)
		made, secret := s.token()
		s.check(s.ping(secret, "web1"))
		s.check(s.users.PingTokens().Revoke(t.Context(), backup, made.ID))
		_, secret = s.token()
		time.Sleep(storeEvery + time.Second)
		s.uses.mu.Lock()
		if n := len(s.uses.last); n != 0 {
			t.Errorf("the uses of %d tokens are known", n)
		}
		s.uses.mu.Unlock()
		s.check(s.conn.Jobs().Delete(t.Context(), backup, cluster.Edit{At: time.Now(), Author: "ann"}))
		time.Sleep(time.Second)
		if err := s.ping(secret, "web1"); !errors.Is(err, problem.ErrGone) {
			t.Errorf("a ping of a job that is gone: %v", err)
		}
		time.Sleep(tidyEvery)
		tokens, err := s.users.PingTokens().OfJob(t.Context(), backup)
		s.check(err)
		if len(tokens) != 1 || tokens[0].JobGoneAt.IsZero() {
			t.Errorf("an hour later: %+v", tokens)
		}
		watched(t, s.conn)
		time.Sleep(tidyEvery)
		if tokens, err = s.users.PingTokens().OfJob(t.Context(), backup); err != nil || !tokens[0].JobGoneAt.IsZero() {
			t.Errorf("the job is made again: %+v %v", tokens, err)
		}
		s.check(s.ping(secret, "web1"))
	})
}

// All groups share EVT: pings of one must not fill it, and must not be refused for what they print.
func TestTheOutputOfAGroupThatPrintsTooMuchIsLeftOutAndItsPingsCount(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		s := serve(t, clustertest.Setup(t, bustest.NewBroker(t), "first", 4))
		watched(t, s.conn)
		_, secret := s.token()
		time.Sleep(time.Second)
		var stored []bus.Ping
		s.put = func(_ context.Context, p *bus.Ping, _ string) error { stored = append(stored, *p); return p.Check() }
		ping := func() bus.Ping {
			_, err := s.ByToken(s.Context(), secret, &Message{Method: "POST", Body: make([]byte, bus.MaxPingOutput)})
			s.check(err)
			return stored[len(stored)-1]
		}
		if p := ping(); len(p.Output) != bus.MaxPingOutput {
			t.Errorf("%d bytes are kept", len(p.Output))
		}
		s.ofGroups.takeMany("ops", burstOfGroup-2*bus.MaxPingOutput+1, time.Now())
		if p := ping(); p.OutputCut != bus.MaxPingOutput || !strings.Contains(p.Output, "group ops sends more output") {
			t.Errorf("%d bytes are cut: %q", p.OutputCut, p.Output)
		}
		time.Sleep(time.Minute)
		if p := ping(); len(p.Output) != bus.MaxPingOutput {
			t.Errorf("a minute later, %d bytes are kept", len(p.Output))
		}
	})
}

func TestAPingForWhichThereIsNoRoomIsToBeSentAgain(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		s := serve(t, clustertest.Setup(t, bustest.NewBroker(t), "first", 4))
		watched(t, s.conn)
		_, secret := s.token()
		time.Sleep(time.Second)
		s.put = func(context.Context, *bus.Ping, string) error {
			return errors.New("insufficient storage resources available")
		}
		if later, ok := errors.AsType[*problem.Later](s.ping(secret, "")); !ok || later.After != retryStore {
			t.Error("it is not to be sent again")
		}
	})
}

// A server that starts must not answer that a token is none, or that a job is gone.
func TestAServerThatDoesNotKnowYetAsksToTryAgain(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		conn := clustertest.Setup(t, bustest.NewBroker(t), "first", 4)
		log := slog.New(slog.DiscardHandler)
		users := auth.NewDirectory(conn, log)
		jobs := catalog.New(conn, nil, nodes.New(conn, log), catalog.Limits{}, func(job.Name) {}, log)
		r := New(conn, jobs.Search(), users, log)
		later := func(err error) {
			t.Helper()
			got, ok := errors.AsType[*problem.Later](err)
			if !ok || got.After != retryStore || !errors.Is(err, job.ErrUnavailable) {
				t.Errorf("%v", err)
			}
		}
		_, err := r.ByToken(t.Context(), "x", &Message{Method: "POST"})
		later(err)
		// A job that is not in memory yet is read from its bucket.
		j, err := job.Decode([]byte(`{"job": "ops/backup", "task": {"watch": "10m"}}`))
		if err == nil {
			_, _, err = conn.Jobs().Put(t.Context(), j, cluster.Edit{At: time.Now()})
		}
		if err != nil {
			t.Fatal(err)
		}
		if watch, err := r.watch(t.Context(), backup); err != nil || watch.Grace.Std() != 10*time.Minute {
			t.Errorf("%+v, %v", watch, err)
		}
	})
}

func TestTheFirstRefusedPingOfAJobIsADeadLetterEachDay(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		s := serve(t, clustertest.Setup(t, bustest.NewBroker(t), "first", 4))
		watched(t, s.conn)
		_, secret := s.token()
		time.Sleep(time.Second)
		want := func(letters int) {
			t.Helper()
			for range burstOfJob + 10 {
				_ = s.ping(secret, "host")
			}
			page, err := s.conn.DeadLetters().Page(t.Context(), 0, 10)
			s.check(err)
			if len(page) != letters || page[0].Group() != backup.Group() || reason.Read(page[0].Reason).Code != "pings_of_job" {
				t.Errorf("got %+v, want %d", page, letters)
			}
		}
		want(1)
		time.Sleep(tellEvery - time.Hour)
		want(1)
		time.Sleep(time.Hour)
		want(2)
	})
}
