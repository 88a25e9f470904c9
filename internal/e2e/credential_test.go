//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/auth/callout"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// guarded is a system that only admits who has a key or a credential: NATS over TLS, a
// server, and ann, who is its administrator.
type guarded struct {
	*testing.T
	folder, cert, url string
	address           string // of the API
	broker, server    *processtest.Process
	ann               *person
	keys              callout.Keys
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{T: t, folder: t.TempDir()}
	certFile, keyFile := selfSigned(t)
	g.cert, g.ann = certFile, newPerson(t, certFile)
	keys := g.write("nats.keys", g.ann.run(0, "", "nats keygen"))
	text, err := os.ReadFile(keys)
	if err == nil {
		g.keys, err = callout.ParseKeys(string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	conf := g.write("nats.conf", g.ann.run(0, "", "nats config --keys "+keys)+fmt.Sprintf("\ntls {cert_file: %q, key_file: %q}\n", certFile, keyFile))
	ports := processtest.FreePorts(t, 2)
	g.address = fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	g.url = fmt.Sprintf("tls://127.0.0.1:%d", ports[0])
	g.broker = processtest.New(t, "nats", nil, processtest.Program(t, "natsd"), conf, filepath.Join(g.folder, "nats"), "nats", fmt.Sprintf("127.0.0.1:%d", ports[0]))
	g.server = processtest.New(t, "server", nil, processtest.Program(t, "carillon"), "server", "--nats", g.url, "--nats-ca", certFile, "--nats-keys", keys,
		"--http", fmt.Sprintf("127.0.0.1:%d", ports[1]), "--data", filepath.Join(g.folder, "data"))
	g.server.Begin(t) // before NATS: it waits
	processtest.Await(t, processtest.Patience, "wait for the server to say that NATS is away", func() error { return says(g.server, "bus is away") })
	g.broker.Begin(t)
	var link []string
	processtest.Await(t, processtest.Patience, "wait for the link to create the administrator", func() error {
		if link = processtest.LinkPattern.FindStringSubmatch(g.server.Said()); link == nil {
			return errors.Join(errors.New("nothing yet"), g.server.Alive())
		}
		return nil
	})
	g.ann.run(0, "correct horse battery staple\n", "login --user ann --link "+link[1])
	return g
}

func says(p *processtest.Process, words string) error {
	if !strings.Contains(p.Said(), words) {
		return fmt.Errorf("has not said %q", words)
	}
	return nil
}

func (g *guarded) write(name, text string) string {
	g.Helper()
	path := filepath.Join(g.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.Fatal(err)
	}
	return path
}

// credential makes a credential of a group, and returns its id and the file of its seed.
func (g *guarded) credential(group, name string) (id, file string) {
	g.Helper()
	file = filepath.Join(g.folder, group+"-"+name+".seed")
	var made struct {
		Credential struct {
			ID string `json:"id"`
		} `json:"credential"`
		Seed string `json:"seed"`
	}
	out := g.ann.run(0, "", "credential create "+name+" -g "+group+" --file "+file+" -o json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Seed != "" {
		g.Fatalf("%v: %s", err, out)
	}
	return made.Credential.ID, file
}

// executor starts an executor of a group with a credential.
func (g *guarded) executor(group, seed string) *processtest.Process {
	g.Helper()
	p := processtest.New(g.T, "executor-"+group, nil, processtest.Program(g.T, "carillon"), "executor", "-g", group, "--nats", g.url, "--nats-ca", g.cert, "--credential", seed)
	p.Begin(g.T)
	return p
}

// connect connects to NATS with a seed and returns what it is refused.
func (g *guarded) connect(seed, inbox string, opts ...nats.Option) (*nats.Conn, <-chan error) {
	g.Helper()
	refused := make(chan error, 100)
	opts = append(opts, nats.Timeout(processtest.Patience), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	conn, err := cluster.Connect(jet.Config{URL: g.url, CAFile: g.cert, Key: seed, Inbox: inbox, Options: opts})
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(conn.NC.Close)
	return conn.NC, refused
}

func TestAnExecutorsCredentialIsGoodForItsGroupOnly(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	jobs := g.write("jobs.yaml", "job: billing/report\ntask: {shell: echo hi}\n---\njob: payroll/pay\ntask: {shell: echo paid}\n")
	g.ann.run(0, "", "apply -f "+jobs)
	_, ours := g.credential("billing", "web1")
	_, theirs := g.credential("payroll", "web2")

	// Who has none is not let in, nor who has one that nobody made.
	for name, seed := range map[string]string{"nobody": "", "a stranger": strangerSeed(t)} {
		if _, err := cluster.Connect(jet.Config{URL: g.url, CAFile: g.cert, Key: seed, Options: []nats.Option{nats.Timeout(processtest.Patience)}}); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.executor("billing", ours)
	g.ann.run(0, "", "run billing/report --wait", "succeeded")

	// The other group's run waits: it has no executor yet.
	g.ann.run(0, "", "run payroll/pay")
	all, _ := g.connect(g.keys.Server, "")
	js, err := jetstream.New(all, jetstream.WithDefaultTimeout(processtest.Patience))
	if err != nil {
		t.Fatal(err)
	}
	before := g.stored(js)

	seed, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	evil, refused := g.connect(string(seed), bus.ExecutorInbox("billing"))
	denied := func(what string, do func() error) {
		t.Helper()
		if err := errors.Join(do(), evil.Flush()); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(processtest.Patience):
			t.Errorf("%s is allowed", what)
		}
	}
	shard := job.Name("payroll/pay").Shard(cluster.DefaultShards)
	for _, subject := range []string{
		">", "trig.>", "evt.>", "log.payroll.*", "exec.payroll.>", "_INBOX.>", "_INBOX_payroll.>", "$KV.>", "$JS.>", "$SYS.>", "sched.>", "audit",
	} {
		denied("to subscribe to "+subject, func() error { _, err := evil.SubscribeSync(subject); return err })
	}
	for _, subject := range []string{
		bus.SubjectTrigger(shard, "payroll"), bus.SubjectTrigger(shard, "billing"), bus.SubjectEvent(shard, "payroll"), "log.payroll.x", "cur.0", "defer.0", "rec.0", "audit", "dead.EVT",
		"$KV.JOBS.0.payroll.pay", "$KV.JOBS.0.billing.report", "$KV.INST.payroll.x", "$KV.CLAIM.payroll.x", "$KV.HANDLER.payroll.x", "$KV.ACCESS.user.ann", "$KV.SECRET.billing.x",
		"$JS.API.CONSUMER.MSG.NEXT.TRIG.any-payroll", "$JS.API.CONSUMER.MSG.NEXT.TRIG.route-billing", "$JS.API.CONSUMER.MSG.NEXT.EVT.ingest",
		"$JS.ACK.TRIG.any-payroll.1.1.1.1.0", "$JS.ACK.TRIG.ledger.1.1.1.1.0", "$JS.API.CONSUMER.CREATE.TRIG.mine", "$JS.API.CONSUMER.DELETE.TRIG.any-payroll",
		"$JS.API.STREAM.INFO.TRIG", "$JS.API.STREAM.PURGE.TRIG", "$JS.API.STREAM.DELETE.TRIG", "$JS.API.STREAM.MSG.DELETE.TRIG", "$JS.API.STREAM.MSG.GET.TRIG",
		"$JS.API.DIRECT.GET.TRIG", "$JS.API.DIRECT.GET.KV_JOBS.$KV.JOBS.0.payroll.pay", "$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET.payroll.db",
		"exec.billing.all.kill", "exec.payroll.all.kill", "sched.0.trigger", "$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.AUTH",
	} {
		denied("to publish to "+subject, func() error { return evil.Publish(subject, []byte("{}")) })
	}

	// What it may ask for must not be answered where it may not write.
	for _, reply := range []string{
		bus.SubjectEvent(shard, "payroll"), bus.SubjectTrigger(shard, "payroll"), "cur.0", "$KV.JOBS.0.payroll.pay", "$KV.INST.payroll.x", "log.payroll.x", "audit", "$JS.ACK.TRIG.any-payroll.1.1.1.1.0",
	} {
		for _, ask := range []string{
			bus.SubjectEvent(shard, "billing"), "$KV.INST.billing.evil", "$JS.API.DIRECT.GET.KV_SCRIPT.$KV.SCRIPT.billing.x",
			"$JS.API.CONSUMER.MSG.NEXT.TRIG.any-billing", "$JS.ACK.TRIG.any-billing.1.1.1.1.0",
		} {
			if err := evil.PublishRequest(ask, reply, []byte(`{"batch":1,"expires":100000000}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := evil.Request("$JS.API.DIRECT.GET.KV_SCRIPT.$KV.SCRIPT.billing.x", nil, processtest.Patience); err != nil { // all before it has been handled
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // pull requests end, and say so to whom they were told to
	for subject, n := range g.stored(js) {
		if strings.Contains(subject, "payroll") && n != before[subject] {
			t.Errorf("%d messages on %s, were %d", n, subject, before[subject])
		}
		if strings.HasPrefix(subject, "cur.") && n != 1 {
			t.Errorf("%d cursors on %s", n, subject)
		}
	}
	g.executor("payroll", theirs)
	processtest.Await(t, processtest.Patience, "wait for the run of the other group", func() error {
		if out := g.ann.run(0, "", "get runs --job payroll/pay -o json"); !strings.Contains(out, `"succeeded"`) {
			return errors.New(out)
		}
		return nil
	})
}

func TestARevokedCredentialIsCutOffWithinSeconds(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("job.yaml", "job: billing/report\ntask: {shell: echo hi}\n"))
	id, file := g.credential("billing", "web1")
	keeps, kept := g.credential("billing", "web2")
	g.executor("billing", kept)
	open := func(file string) (*nats.Conn, *atomic.Int32) {
		t.Helper()
		seed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cuts atomic.Int32
		nc, _ := g.connect(string(seed), bus.ExecutorInbox("billing"), nats.DisconnectErrHandler(func(*nats.Conn, error) { cuts.Add(1) }))
		return nc, &cuts
	}
	gone, cuts := open(file)
	stays, none := open(kept)
	g.ann.run(0, "", "get credentials -g billing", id, keeps, "web1", "web2", "ann", "revoked")
	g.ann.run(0, "", "credential revoke "+id+" -g billing", "revoked")
	processtest.Await(t, processtest.Patience, "wait for the cut", func() error {
		if cuts.Load() == 0 || gone.IsConnected() {
			return errors.New("still connected")
		}
		return nil
	})
	time.Sleep(time.Second) // in which it tries to come back
	if gone.IsConnected() {
		t.Error("it came back")
	}
	if !stays.IsConnected() || none.Load() != 0 {
		t.Error("another credential of the group was cut off too")
	}
	g.ann.run(0, "", "run billing/report --wait", "succeeded")

	// A rotated one works on for a while, and no longer.
	out := g.ann.run(0, "", "credential rotate "+keeps+" -g billing --overlap 0s -o json", `"replaces": "`+keeps+`"`)
	processtest.Await(t, processtest.Patience, "wait for the rotated one to end", func() error {
		if stays.IsConnected() {
			return errors.New("still connected")
		}
		return nil
	})
	var made struct {
		Seed string `json:"seed"`
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatal(err)
	}
	next, _ := g.connect(made.Seed, bus.ExecutorInbox("billing"))
	if !next.IsConnected() {
		t.Error("the new seed does not work")
	}
	g.ann.run(0, "", "audit-log", "createCredential", "revokeCredential", "rotateCredential", "credential billing/"+id)
	if strings.Contains(g.ann.run(0, "", "audit-log -o json"), made.Seed) || strings.Contains(g.server.Said(), made.Seed) {
		t.Error("the seed is written down somewhere")
	}
	g.ann.run(2, "", "credential create x -g billing --file "+kept, "is there already")
}

func TestAKilledExecutorTakesNoTriggersWithIt(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("job.yaml", "job: billing/report\ntask: {shell: echo hi}\n"))
	_, file := g.credential("billing", "web1")
	dies := g.executor("billing", file)
	g.ann.run(0, "", "run billing/report --wait", "succeeded")
	dies.Kill() // its pull request is at the server still
	g.executor("billing", file)
	// Had the trigger gone to the one that was killed, this would be its second delivery.
	g.ann.run(0, "", "run billing/report --wait -o json", `"succeeded"`, `"delivery": 1,`)
}

// strangerSeed returns a key that nobody knows.
func strangerSeed(t *testing.T) string {
	t.Helper()
	keys, err := callout.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys.Server
}

// stored returns how many messages each subject has, in all streams.
func (g *guarded) stored(js jetstream.JetStream) map[string]uint64 {
	g.Helper()
	all := map[string]uint64{}
	list := js.StreamNames(g.Context())
	for name := range list.Name() {
		s, err := js.Stream(g.Context(), name)
		if err != nil {
			g.Fatal(err)
		}
		info, err := s.Info(g.Context(), jetstream.WithSubjectFilter(">"))
		if err != nil {
			g.Fatal(err)
		}
		maps.Copy(all, info.State.Subjects)
	}
	if err := list.Err(); err != nil {
		g.Fatal(err)
	}
	return all
}
