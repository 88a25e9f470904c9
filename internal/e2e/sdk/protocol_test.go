package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/embedded"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// protocol returns the examples of docs/reference/protocol.md that follow a fence with this
// label.
func protocol(t *testing.T, label string) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(page), "\n```"+label+"\n")[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		all = append(all, text)
	}
	if len(all) == 0 {
		t.Errorf("docs/reference/protocol.md has no example of %s", label)
	}
	return all
}

func TestTheProtocolsExamplesAreWhatTheProgramReadsAndWrites(t *testing.T) {
	same := func(label string, into func() any) {
		t.Helper()
		for _, text := range protocol(t, "json "+label) {
			v := into()
			strict := json.NewDecoder(strings.NewReader(text))
			strict.DisallowUnknownFields()
			if err := strict.Decode(v); err != nil {
				t.Errorf("%s: %v", label, err)
				continue
			}
			back, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var plain bytes.Buffer
			if err := json.Compact(&plain, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.String(), string(back)); diff != "" {
				t.Errorf("%s (-docs +program):\n%s", label, diff)
			}
		}
	}
	same("trigger", func() any { return &bus.Trigger{} })
	same("event", func() any { return &bus.Event{} })
	same("log", func() any { return &bus.Log{} })
	same("kill", func() any { return &bus.KillRequest{} })
	same("consumers", func() any { return new(bus.ConsumersRequest) })
	same("refused", func() any { return new(fleet.Refusal) })
	same("instance-reply", func() any {
		return &struct {
			Value fleet.InstanceReply `json:"value"`
		}{}
	})
	same("instance", func() any { return &bus.Heartbeat{} })
	same("secret", func() any { return &bus.Secret{} })
	same("handler", func() any { return &bus.Handler{} })
	same("start", func() any { return &bus.StartRequest{} })
	same("http", func() any { return &job.HTTP{} })
	same("pull", func() any {
		return &struct {
			Batch     int           `json:"batch"`
			Expires   time.Duration `json:"expires"`
			Heartbeat time.Duration `json:"idle_heartbeat"`
		}{}
	})
}

func TestTheDocumentedPermissionsAreThoseOfACredential(t *testing.T) {
	page := protocol(t, "conf")[0]
	list := func(name string) []string {
		_, rest, _ := strings.Cut(page, name+": [")
		body, _, _ := strings.Cut(rest, "]")
		var all []string
		for i, part := range strings.Split(body, `"`) {
			if i%2 == 1 {
				all = append(all, part)
			}
		}
		return all
	}
	publish, subscribe := bus.ExecutorPermissions("billing", 1)
	if diff := cmp.Diff(list("publish"), publish); diff != "" {
		t.Errorf("publish (-docs +program):\n%s", diff)
	}
	if diff := cmp.Diff(list("subscribe"), subscribe); diff != "" {
		t.Errorf("subscribe (-docs +program):\n%s", diff)
	}
}

// The server knows two users: one may do everything, the other what the page says.
func TestTheDocumentedPermissionsAreEnoughAndNoMore(t *testing.T) {
	user := strings.Replace(protocol(t, "conf")[0], "$BILLING_PASSWORD", "secret", 1)
	file := filepath.Join(t.TempDir(), "nats.conf")
	conf := fmt.Sprintf(`listen: "127.0.0.1:-1", jetstream { store_dir: %q }
authorization { users: [ { user: "all", password: "secret" }, %s ] }`, t.TempDir(), user)
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := embedded.Start(embedded.Config{ConfigFile: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown() })
	refused := make(chan error, 100)
	connect := func(name string, opts ...nats.Option) *cluster.Conn {
		t.Helper()
		opts = append(opts, nats.UserInfo(name, "secret"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		conn, err := cluster.Connect(jet.Config{URL: srv.ClientURL(), Options: opts})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.NC.Close)
		return conn
	}
	all := connect("all")
	if err := all.Setup(t.Context(), cluster.Assets{TrigBytes: 1 << 20, EvtBytes: 1 << 20, LogBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := all.Groups().Setup(t.Context(), cluster.Group{Group: "billing", HasRouted: true}); err != nil {
		t.Fatal(err)
	}
	script := &job.Script{Language: "shell", Source: "true"}
	for _, name := range []job.Name{"billing/a", "other/a"} {
		if _, _, err := all.Jobs().Put(t.Context(), job.Job{Job: name, Task: job.Task{Script: script}}.WithDefaults(), cluster.Edit{At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := all.NC.SubscribeSync("*.*.*")
	if err != nil {
		t.Fatal(err)
	}

	own := connect("billing", nats.CustomInboxPrefix("_INBOX_billing"))
	e, err := executor.New(own.Conn, executor.Config{Group: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	e.Handle("wait", executor.HandlerFunc(func(ctx context.Context, run *executor.Run) (any, error) {
		run.Log().InfoContext(ctx, "up")
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()

	witness := &devBus{conn: all.Conn, server: all, seen: seen}
	witness.fire("billing/wait", "wait", "")
	if line := witness.lines()[0]; line.Text != "up" {
		t.Errorf("line %q", line.Text)
	}
	var id job.RunID
	if err := all.Scan(t.Context(), bus.StreamTrig, "trig.>", func(s *jet.Stored) bool {
		tr, err := bus.DecodeTrigger(s.Header, s.Data)
		if err != nil {
			t.Fatal(err)
		}
		id = tr.RunID
		return true
	}); err != nil {
		t.Fatal(err)
	}
	beat, err := all.Instances().Heartbeat(t.Context(), "billing", e.Instance())
	if err != nil {
		t.Fatal(err)
	}
	reply, err := all.AskInstance(t.Context(), beat.Address(), bus.VerbKill, nil, fmt.Appendf(nil, `{"run_id":%q}`, id), time.Minute)
	if err != nil || reply.Answer != fleet.AnswerAccepted {
		t.Fatalf("%+v, %v", reply, err)
	}
	if end := witness.finished(); end.RunID != id || end.Status != job.StatusCancelled {
		t.Errorf("run %s ended as %s", end.RunID, end.Status)
	}
	if got, err := own.Script(t.Context(), "billing", job.DigestOf("true")); err != nil || got != "true" {
		t.Errorf("script %q, %v", got, err)
	}
	handOver(t, all, beat.Address())
	if err := all.Secrets().Put(t.Context(), &bus.Secret{Group: "billing", Secret: "db"}); err != nil {
		t.Fatal(err)
	}
	if got, err := own.Secret(t.Context(), "billing", "db"); err != nil || got.Secret != "db" {
		t.Errorf("secret %+v, %v", got, err)
	}
	if h, err := all.Instances().Handler(t.Context(), "billing", "wait"); err != nil || h.Instance != e.Instance() {
		t.Errorf("announced %+v, %v", h, err)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	select {
	case err := <-refused:
		t.Errorf("the executor was refused something: %v", err)
	default:
	}

	forbidden := func(subject string) {
		t.Helper()
		if err := own.NC.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		if err := own.NC.Flush(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Error(err)
			}
		case <-time.After(5 * time.Minute): // no machine is as slow
			t.Errorf("publishing to %s is allowed", subject)
		}
	}
	forbidden("evt.0.other")
	forbidden("log.other.x")
	forbidden("trig.0.any.billing")
	forbidden("$JS.API.CONSUMER.MSG.NEXT.TRIG.any-other")
	forbidden("$KV.INST.other.x")
	forbidden("exec.billing.x.run")
	forbidden(beat.Address().Subject(bus.VerbKill))
	forbidden("$KV.CLAIM.other.x")
	forbidden("hand.other")
	forbidden("$JS.API.DIRECT.GET.KV_CLAIM.$KV.CLAIM.other.x")
	forbidden("$JS.API.DIRECT.GET.KV_INST.$KV.INST.other.x")
	forbidden("$JS.API.DIRECT.GET.KV_SCRIPT.$KV.SCRIPT.other." + job.DigestOf("true"))
	forbidden("$KV.SCRIPT.billing." + job.DigestOf("true"))
	forbidden("$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET.other.db")
	forbidden("$KV.SECRET.billing.db")
	forbidden("$KV.HANDLER.other.x")
}

// handOver has an instance do an at_most_once run as a dispatcher would, and waits
// until it has acknowledged that.
func handOver(t *testing.T, conn *cluster.Conn, to bus.Address) {
	t.Helper()
	name, at := job.Name("billing/routed"), time.Now().UTC().Truncate(time.Millisecond)
	tr := &bus.Trigger{
		RunID: job.NewRunID(at), Job: name, Version: 1, Shard: name.Shard(conn.Cluster().Shards), Attempt: 1, Cause: job.CauseAPI, FireTime: at, CommittedAt: at,
		TriggerBody: bus.TriggerBody{Delivery: job.AtMostOnce, Route: job.RouteFirst, Timeout: job.Duration(10 * time.Millisecond), Task: job.Task{Handler: "wait"}},
	}
	body, err := tr.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m := bustest.Trigger(conn.Tokens(), bus.SubjectRouted(tr.Shard, "billing"), tr, body)
	if _, err := conn.JS.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	consumer, err := conn.JS.Consumer(t.Context(), bus.StreamTrig, bus.ConsumerRoute("billing"))
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := consumer.Next()
	if err != nil {
		t.Fatal(err)
	}
	acked, err := conn.NC.SubscribeSync(pulled.Reply())
	if err != nil {
		t.Fatal(err)
	}
	header := bus.RunRequest(&nats.Msg{Reply: pulled.Reply(), Header: pulled.Headers()}, "", false)
	reply, err := conn.AskInstance(t.Context(), to, bus.VerbRun, header, pulled.Data(), time.Minute)
	if err != nil || reply.Answer != fleet.AnswerAccepted {
		t.Fatalf("%+v, %v", reply, err)
	}
	for {
		answer, err := acked.NextMsg(5 * time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if string(answer.Data) == "+ACK" {
			return
		}
	}
}
