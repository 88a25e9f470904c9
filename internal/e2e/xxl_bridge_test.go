//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

var (
	xxlNATSPattern = regexp.MustCompile(`NATS +(nats://\S+)`)
	listenPattern  = regexp.MustCompile(`bridge listens.* address=(\S+)`)
)

// xxlBridge is a `carillon bridge xxl-job`, at an address that stays when it is started again.
type xxlBridge struct {
	*process
	address string
}

func startXXLBridge(t *testing.T, name, nats, seed, listen string) *xxlBridge {
	t.Helper()
	b := &xxlBridge{process: newProcess(t, name, []string{"CARILLON_CREDENTIAL=" + seed}, program(t, "carillon"),
		"bridge", "xxl-job", "--nats", nats, "--listen", listen, "--groups", "java-app", "--no-access-token", "--allow-private-addresses")}
	b.begin(t)
	await(t, patience, "wait for "+name+" to log its address", func() error {
		if err := b.alive(); err != nil {
			t.Fatal(err)
		}
		found := listenPattern.FindStringSubmatch(b.said())
		if found == nil {
			return errors.New("nothing yet")
		}
		b.address = found[1]
		return nil
	})
	return b
}

// startXXLExecutor starts a stand-in for an executor of XXL-JOB, whose runs take a while.
func startXXLExecutor(t *testing.T, takes time.Duration, admins ...string) *xxlstandin.Executor {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls := &http.Client{Timeout: 3 * time.Second}
	e := xxlstandin.New(xxlstandin.Config{
		AppName: "javaApp", Address: "http://" + l.Addr().String(), Admins: admins, Client: calls, RegisterEvery: time.Second, RepeatEvery: time.Second,
	}, map[string]xxlstandin.Handler{"work": func(ctx context.Context, r xxlstandin.Run, log func(string)) (string, error) {
		log("at work on " + r.Params)
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-timer.C:
			return r.Params, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}})
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := e.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); serving.Wait(); calls.CloseIdleConnections() })
	return e
}

// Two bridges, which have no more than the credential of bridges, share four executors. One is killed while it has runs; the other one goes on with them.
// Then that one is killed, too, and the first one is started again.
func TestABridgeForXXLJOBThatIsKilledLosesAndDoublesNothing(t *testing.T) {
	d := newDev(t)
	d.begin(t)
	nats := xxlNATSPattern.FindStringSubmatch(d.said())[1]
	made, err := client.Read[client.NewCredential](d.api.CreateCredential(t.Context(), "java-app", nil, client.CredentialRequest{Name: "bridges", BridgeGroups: []string{"java-app"}}))
	if err != nil {
		t.Fatal(err)
	}
	one, two := startXXLBridge(t, "bridge-1", nats, made.Seed, "127.0.0.1:0"), startXXLBridge(t, "bridge-2", nats, made.Seed, "127.0.0.1:0")
	const takes = 20 * time.Second
	var executors []*xxlstandin.Executor
	for range 4 {
		executors = append(executors, startXXLExecutor(t, takes, "http://"+one.address, "http://"+two.address))
	}
	await(t, patience, "wait for four instances", func() error {
		groups, err := client.Read[client.GroupList](d.api.ListGroups(t.Context()))
		if err != nil {
			return err
		}
		for _, g := range groups.Items {
			if g.ExecutorGroup == "java-app" && len(g.Instances) == 4 {
				return nil
			}
		}
		return fmt.Errorf("there are %d groups", len(groups.Items))
	})
	var ids []job.RunID
	begin := func(n int) {
		for range n {
			name := fmt.Sprintf("work-%d", len(ids))
			delivery := job.AtLeastOnce
			if len(ids)%2 == 0 {
				delivery = job.AtMostOnce
			}
			d.saveIn(t, "java-app", name, fmt.Sprintf(`"task": {"handler": "work"}, "params": %q, "delivery": %q`, name, delivery))
			ids = append(ids, d.runIn(t, "java-app", name))
		}
	}
	begin(8)
	begun := func() (n int) {
		for _, e := range executors {
			n += len(e.Begun())
		}
		return n
	}
	await(t, patience, "wait for the runs to begin", func() error {
		if n := begun(); n < len(ids) {
			return fmt.Errorf("%d have", n)
		}
		return nil
	})
	one.kill()
	begin(4)
	await(t, patience, "wait for more runs to begin", func() error {
		if n := begun(); n < len(ids) {
			return fmt.Errorf("%d have", n)
		}
		return nil
	})
	two.kill()
	startXXLBridge(t, "bridge-1-again", nats, made.Seed, one.address)
	for _, id := range ids {
		d.awaitSuccess(t, id)
		d.awaitLog(t, id, "at work on work-")
	}
	for _, e := range executors {
		for id, times := range e.Begun() {
			if times != 1 {
				t.Errorf("run %d has begun %d times", id, times)
			}
		}
	}
	if n := begun(); n != len(ids) {
		t.Errorf("%d runs have begun, want %d", n, len(ids))
	}
}
