package cluster_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// said is what a log says. It is safe for concurrent use.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
	some chan struct{}
}

func (s *said) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.some <- struct{}{}:
	default:
	}
	return s.text.Write(line)
}

// With a credential of another group NATS refuses the subject of requests, and quotes it.
func TestTheLogDoesNotTellTheSecretOfAnInstance(t *testing.T) {
	secret := bus.NewControlSecret()
	text := refusedTo(t, jet.Config{}, bus.NewAddress("billing", "web1", secret).Subject("*"))
	if strings.Contains(text, secret) || !strings.Contains(text, "exec.billing.…") || strings.Contains(text, "credential") {
		t.Errorf("the log says: %s", text)
	}
}

func TestTheLogOfAnExecutorSaysThatItsCredentialMayBeForAnotherGroup(t *testing.T) {
	text := refusedTo(t, jet.Config{Inbox: bus.ExecutorInbox("billing")}, bus.NewAddress("billing", "web1", bus.NewControlSecret()).Subject("*"))
	if !strings.Contains(text, "exec.billing.…") || !strings.Contains(text, "each credential is for one group: check that this one is for group billing") {
		t.Errorf("the log says: %s", text)
	}
}

// refusedTo subscribes to a subject that NATS refuses, and returns what the log says.
func refusedTo(t *testing.T, cfg jet.Config, subject string) string {
	t.Helper()
	nobody := &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
		Users: []*server.User{{Username: "u", Password: "p", Permissions: nobody}},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(srv.Shutdown)
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	log := &said{some: make(chan struct{}, 1)}
	cfg.URL, cfg.Logger = strings.Replace(srv.ClientURL(), "//", "//u:p@", 1), slog.New(slog.NewTextHandler(log, nil))
	conn, err := jet.Connect(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.NC.Close)
	if _, err := conn.NC.SubscribeSync(subject); err != nil {
		t.Fatal(err)
	}
	<-log.some
	conn.NC.Close()
	log.mu.Lock()
	defer log.mu.Unlock()
	return log.text.String()
}

func TestABucketIsLookedUpOnce(t *testing.T) {
	inCluster(t, func(w *world) {
		conn := w.connect("one")
		if _, err := conn.Bucket(w.t.Context(), "NOWHERE"); err == nil {
			t.Error("a bucket that is not there was found")
		}
		first, err := conn.Bucket(w.t.Context(), bus.BucketJobs)
		if err != nil {
			t.Fatal(err)
		}
		asked := conn.NC.Stats().OutMsgs
		again, err := conn.Bucket(w.t.Context(), bus.BucketJobs)
		if err != nil || again != first || conn.NC.Stats().OutMsgs != asked {
			t.Errorf("it was looked up again: %v", err)
		}
	})
}
