//go:build unix

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

var (
	xxlNATSPattern = regexp.MustCompile(`NATS +(nats://\S+)`)
	listenPattern  = regexp.MustCompile(`bridge listens.* address=(\S+)`)
)

// xxlBridge is a `carillon bridge xxl-job`, at an address that stays when it is started again.
type xxlBridge struct {
	*processtest.Process
	address string
}

// devForBridges starts a dev, and returns its NATS and the seed of a credential of bridges.
func devForBridges(t *testing.T) (d *dev, nats, seed string) {
	t.Helper()
	d = newDev(t)
	d.Begin(t)
	made, err := client.Read[client.NewCredential](d.api.CreateCredential(t.Context(), "java-app", nil, client.CredentialRequest{Name: "bridges", BridgeGroups: []string{"java-app"}}))
	if err != nil {
		t.Fatal(err)
	}
	return d, xxlNATSPattern.FindStringSubmatch(d.Said())[1], made.Seed
}

func startXXLBridge(t *testing.T, name, nats, seed, listen string, more ...string) *xxlBridge {
	t.Helper()
	command := []string{processtest.Program(t, "carillon"), "bridge", "xxl-job", "--nats", nats, "--listen", listen, "--groups", "java-app", "--no-access-token", "--allow-private-addresses"}
	b := &xxlBridge{Process: processtest.New(t, name, []string{"CARILLON_CREDENTIAL=" + seed}, append(command, more...)...)}
	b.Begin(t)
	processtest.Await(t, processtest.Patience, "wait for "+name+" to log its address", func() error {
		if err := b.Alive(); err != nil {
			t.Fatal(err)
		}
		found := listenPattern.FindStringSubmatch(b.Said())
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
	return startXXLExecutorThat(t, &http.Client{Timeout: 3 * time.Second}, takes, admins...)
}

// startXXLExecutorThat starts one that calls its admins in a way of its own.
func startXXLExecutorThat(t *testing.T, calls *http.Client, takes time.Duration, admins ...string) *xxlstandin.Executor {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	t.Parallel()
	d, nats, seed := devForBridges(t)
	one, two := startXXLBridge(t, "bridge-1", nats, seed, "127.0.0.1:0"), startXXLBridge(t, "bridge-2", nats, seed, "127.0.0.1:0")
	const takes = 20 * time.Second
	var executors []*xxlstandin.Executor
	for range 4 {
		executors = append(executors, startXXLExecutor(t, takes, "http://"+one.address, "http://"+two.address))
	}
	processtest.Await(t, processtest.Patience, "wait for four instances", func() error {
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
	processtest.Await(t, processtest.Patience, "wait for the runs to begin", func() error {
		if n := begun(); n < len(ids) {
			return fmt.Errorf("%d have", n)
		}
		return nil
	})
	one.Kill()
	begin(4)
	processtest.Await(t, processtest.Patience, "wait for more runs to begin", func() error {
		if n := begun(); n < len(ids) {
			return fmt.Errorf("%d have", n)
		}
		return nil
	})
	two.Kill()
	startXXLBridge(t, "bridge-1-again", nats, seed, one.address)
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

func TestExecutorsOfXXLJOBReachABridgeByTLS(t *testing.T) {
	t.Parallel()
	d, nats, seed := devForBridges(t)
	certFile, keyFile := selfSigned(t)
	b := startXXLBridge(t, "bridge", nats, seed, "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile)
	authority, err := os.ReadFile(certFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	calls := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	e := startXXLExecutorThat(t, calls, 0, "https://"+b.address)
	d.saveIn(t, "java-app", "work", `"task": {"handler": "work"}, "params": "by TLS"`)
	id := d.runIn(t, "java-app", "work")
	d.awaitSuccess(t, id)
	if begun := e.Begun(); len(begun) != 1 {
		t.Errorf("%d runs have begun", len(begun))
	}
	plain, err := http.Post("http://"+b.address+"/api/registry", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Body.Close() }()
	if plain.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS it answers %s", plain.Status)
	}
}
