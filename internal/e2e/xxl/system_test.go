//go:build unix

package xxl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// token is the access token of all executors.
const token = "a-token-of-tests"

// system is a NATS server, a Carillon server and two bridges, each a process, and executors of a group.
type system struct {
	t       *testing.T
	nats    *processtest.Process
	server  *processtest.Process
	bridges []*processtest.Process
	admins  []string // the addresses of the bridges
	api     *client.API
	token   string                                                                        // with which api signs in
	begin   func(t *testing.T, name, address string, more ...string) *processtest.Process // of a bridge
	appname string
	peers   []*peer
}

// newSystem starts all but executors.
func newSystem(t *testing.T, appname string) *system {
	t.Helper()
	s := &system{t: t, appname: appname}
	ports := processtest.FreePorts(t, 4)
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	dir := t.TempDir()
	conf, tokens := filepath.Join(dir, "nats.conf"), filepath.Join(dir, "tokens")
	for path, text := range map[string]string{conf: embedded.DefaultConf, tokens: token + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	carillon, url := processtest.Program(t, "carillon"), "nats://"+at(0)
	s.nats = processtest.New(t, "nats", nil, processtest.Program(t, "natsd"), conf, filepath.Join(dir, "nats"), "nats", at(0))
	s.nats.Begin(t)
	s.server = processtest.New(t, "server", nil, carillon, "server", "--nats", url, "--http", at(1), "--data", filepath.Join(dir, "data"))
	s.server.Keep = true
	s.server.Begin(t)
	s.begin = func(t *testing.T, name, address string, more ...string) *processtest.Process {
		t.Helper()
		arguments := append([]string{carillon, "bridge", "xxl-job", "--nats", url, "--listen", address, "--access-token-file", tokens, "--allow-private-addresses"}, more...)
		b := processtest.New(t, name, nil, arguments...)
		b.Keep = true
		b.Begin(t)
		t.Cleanup(func() {
			if n := b.GaveUp(); n > 0 {
				t.Errorf("%s ended by itself %d times", b.Name, n)
			}
		})
		return b
	}
	for i := range 2 {
		s.bridges = append(s.bridges, s.begin(t, fmt.Sprintf("bridge-%d", i), at(2+i)))
		s.admins = append(s.admins, "http://"+at(2+i)+"/xxl-job-admin")
	}
	var err error
	if s.api, err = client.New(at(1), "e2e"); err != nil {
		t.Fatal(err)
	}
	processtest.Await(t, processtest.Patience, "wait for the API", func() error {
		_, err := client.Read[client.Health](s.api.Readyz(t.Context()))
		return err
	})
	s.token = processtest.SignIn(t, s.server, carillon)
	s.api.Authorize(s.token)
	return s
}

// bridge starts one more bridge, and returns its address.
func (s *system) bridge(t *testing.T, more ...string) string {
	t.Helper()
	address := fmt.Sprintf("127.0.0.1:%d", processtest.FreePorts(t, 1)[0])
	s.bridges = append(s.bridges, s.begin(t, "bridge-more", address, more...))
	return address
}

// attach starts n more executors and waits until they are instances.
func (s *system) attach(n int, k kind) {
	s.t.Helper()
	for range n {
		admins := strings.Join(s.admins, ",")
		if k == goClient { // it knows one
			admins = s.admins[0]
		}
		p := newPeer(s.t, k, settings{admin: admins, appname: s.appname, token: token})
		p.Begin(s.t)
		s.peers = append(s.peers, p)
	}
	s.awaitInstances(len(s.peers))
}

// instances returns those of the group that take runs.
func (s *system) instances() ([]client.Instance, error) {
	list, err := client.Read[client.GroupList](s.api.ListGroups(s.t.Context()))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.Items, func(g client.Group) bool { return g.ExecutorGroup == s.appname })
	if i < 0 {
		return nil, nil
	}
	return slices.DeleteFunc(list.Items[i].Instances, func(i client.Instance) bool { return i.State != fleet.InstanceOnline }), nil
}

func (s *system) awaitInstances(n int) {
	s.t.Helper()
	processtest.Await(s.t, processtest.Patience, fmt.Sprintf("wait for %d instances", n), func() error {
		list, err := s.instances()
		if err == nil && len(list) != n {
			err = fmt.Errorf("there are %d: %+v", len(list), list)
		}
		return err
	})
}

// save saves a job of the group: the rest of its document is given as JSON.
func (s *system) save(t *testing.T, name, rest string) {
	t.Helper()
	body := fmt.Sprintf(`{"job": "%s/%s", %s}`, s.appname, name, rest)
	processtest.Await(t, processtest.Patience, "save "+name, func() error {
		_, err := client.Read[client.PutJobResult](s.api.PutJobWithBody(t.Context(), s.appname, name, &client.PutJobParams{}, "application/json", strings.NewReader(body)))
		if err != nil && !errors.Is(err, job.ErrUnavailable) {
			t.Fatal(err)
		}
		return err
	})
}

// run asks for a run of a job, whose parameter is a text.
func (s *system) run(t *testing.T, name, params string) job.RunID {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	wanted, id := job.NewRunID(time.Now()), job.RunID("")
	processtest.Await(t, processtest.Patience, "run "+name, func() error {
		accepted, err := client.Read[client.RunAccepted](s.api.RunJob(t.Context(), s.appname, name, &client.RunJobParams{}, client.RunRequest{RunID: wanted, Params: text}))
		if err != nil && !errors.Is(err, job.ErrUnavailable) {
			t.Fatal(err)
		}
		id = accepted.RunID
		return err
	})
	return id
}

// status returns how a run is, and its newest attempt.
func (s *system) status(t *testing.T, id job.RunID) (job.Status, client.Run, error) {
	t.Helper()
	detail, err := client.Read[client.RunDetail](s.api.GetRun(t.Context(), string(id)))
	if err != nil || len(detail.Attempts) == 0 {
		return "", client.Run{}, errors.Join(err, errors.New("no attempt"))
	}
	return detail.Status, detail.Attempts[0], nil
}

// await waits until a run is final, wants it to be so, and returns its newest attempt.
func (s *system) await(t *testing.T, id job.RunID, want ...job.Status) client.Run {
	t.Helper()
	var is job.Status
	var r client.Run
	processtest.Await(t, processtest.Patience, "wait for the end of run "+string(id), func() (err error) {
		if is, r, err = s.status(t, id); err == nil && !is.Final() {
			err = fmt.Errorf("it is %s: %s%s", is, r.Reason, r.Message)
		}
		return err
	})
	if !slices.Contains(want, is) {
		t.Errorf("run %s is %s, want %s: message %q, reason %q", id, is, want, r.Message, r.Reason)
	}
	return r
}

// awaitLog waits until the log of a run, or of a piece, fits.
func (s *system) awaitLog(t *testing.T, id job.RunID, piece *int, fits func([]string) error) {
	t.Helper()
	processtest.Await(t, processtest.Patience, "read the log of run "+string(id), func() error {
		var lines []string
		for from := int64(1); from > 0; {
			page, err := client.Read[client.LogPage](s.api.GetLogs(t.Context(), string(id), &client.GetLogsParams{BroadcastIndex: piece, FromSeq: &from}))
			if err != nil {
				return err
			}
			for _, l := range page.Items {
				lines = append(lines, l.Text)
			}
			from = page.NextSeq
		}
		return fits(lines)
	})
}

// has returns what wants a line with the word.
func has(words ...string) func([]string) error {
	return func(lines []string) error {
		for _, word := range words {
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, word) }) {
				return fmt.Errorf("%q is not in %q", word, lines)
			}
		}
		return nil
	}
}

// witnessed returns the lines that handlers of all executors wrote for runs with a parameter.
func (s *system) witnessed(t *testing.T, param string) (lines []line) {
	t.Helper()
	for _, p := range s.peers {
		for _, l := range p.witnessed(t) {
			if l.param == param {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// awaitStart waits until a handler has begun with a parameter, and returns where.
func (s *system) awaitStart(t *testing.T, param string) *peer {
	t.Helper()
	var at *peer
	processtest.Await(t, processtest.Patience, "wait for the start of "+param, func() error {
		if lines := s.witnessed(t, param); len(lines) > 0 {
			at = lines[0].peer
			return nil
		}
		return errors.New("it has not begun")
	})
	return at
}

// count returns how often handlers have begun with a parameter.
func (s *system) count(t *testing.T, param string) (n int) {
	t.Helper()
	for _, l := range s.witnessed(t, param) {
		if l.what == "start" {
			n++
		}
	}
	return n
}
