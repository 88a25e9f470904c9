package alert_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

var start = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

const (
	shards            = 8
	report   job.Name = "billing/report"
	settled           = 4 * time.Second // within which a message has had its effect
	leaseEnd          = jet.LeaseTTL + 2*jet.LeaseRenew
)

// world is a broker, and the other side of all channels.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	book   *alert.Store
	master *seal.Master
	fires  int

	mu     sync.Mutex
	got    []request
	answer func(request) int // status; nil: 200
}

// request is what a channel was sent.
type request struct {
	at     time.Time
	host   string
	header http.Header
	body   string
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	runPartitioned(t, 1, f)
}

// runPartitioned is run on a bus with so many partitions.
func runPartitioned(t *testing.T, n bus.Partitions, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t), master: seal.NewMaster()}
		w.conn = clustertest.Connect(t, w.broker, "test")
		if err := w.conn.Setup(t.Context(), cluster.Assets{Shards: shards, Partitions: n, TrigBytes: 1 << 20, EvtBytes: 1 << 20, LogBytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		w.book = alert.NewStore(w.conn)
		w.channel(alerting.Channel{Channel: "hook", Kind: alerting.KindWebhook, URL: "https://hook.test/x"})
		f(w)
	})
}

func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Open(w.t, w.broker, name)
}

// RoundTrip is the other side of all requests.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	got := request{time.Now(), r.URL.Host, r.Header, string(body)}
	w.mu.Lock()
	w.got = append(w.got, got)
	answer := w.answer
	w.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		status = answer(got)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(status)
	return rec.Result(), nil
}

// answers sets how requests are answered from now on.
func (w *world) answers(f func(request) int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// node is one process that alerts.
type node struct {
	w      *world
	conn   *cluster.Conn
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func (w *world) start(name string, configure ...func(*alert.Config)) *node {
	w.t.Helper()
	n := &node{w: w, conn: w.connect(name), done: make(chan struct{})}
	if err := n.conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var log *slog.Logger
	if os.Getenv("CARILLON_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	cfg := alert.Config{Node: name, Logger: log, Transport: w, MasterKey: w.master.Text(), PublicURL: "https://carillon.test"}
	for _, f := range configure {
		f(&cfg)
	}
	a, err := alert.New(n.conn, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	n.cancel = cancel
	go func() {
		defer close(n.done)
		n.err = a.Run(ctx)
	}()
	w.t.Cleanup(n.stop)
	time.Sleep(settled + time.Millisecond) // so that no test does anything in the instant of a tick
	return n
}

// stop ends the node in an orderly way, if it is still at work.
func (n *node) stop() {
	n.cancel()
	<-n.done
	if n.err != nil {
		n.w.t.Errorf("Run returns %v after an orderly stop", n.err)
	}
}

// crash ends the node so that the bus hears nothing more from it.
func (n *node) crash() {
	n.conn.NC.Close()
	n.cancel()
	<-n.done
}

func (w *world) channel(c alerting.Channel) {
	w.t.Helper()
	if _, _, _, err := w.book.PutChannel(w.t.Context(), alerting.ChannelDocument{Channel: c, Disabled: &c.Disabled}, cluster.Edit{At: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
}

// rule saves a rule called "r" for the channel hook.
func (w *world) rule(when alerting.Condition, change ...func(*alerting.Rule)) {
	w.t.Helper()
	r := alerting.Rule{Alert: "r", When: when, Channels: []string{"hook"}}
	for _, c := range change {
		c(&r)
	}
	if _, _, _, err := w.book.PutRule(w.t.Context(), alerting.RuleDocument{Rule: r, Disabled: &r.Disabled}, cluster.Edit{At: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(settled)
}

// trigger returns a trigger of a job that fires now.
func (w *world) trigger(name job.Name) *bus.Trigger {
	w.fires++
	at := time.Now().Truncate(time.Millisecond).Add(time.Duration(w.fires) * time.Millisecond)
	return &bus.Trigger{
		RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(shards),
		Attempt: 1, Cause: job.CauseSchedule, FireTime: at, CommittedAt: at,
	}
}

// publish stores an event.
func (w *world) publish(e *bus.Event) {
	w.t.Helper()
	m, err := bustest.Event(w.conn.Tokens(), e)
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// ends has a run of a job end now, and waits until that has had its effect.
func (w *world) ends(name job.Name, s job.Status, change ...func(*bus.Event)) {
	w.t.Helper()
	e := bus.EventOf(w.trigger(name), bus.EventFinished, time.Now())
	e.Status, e.Message, e.StartedAt, e.FinishedAt = s, "it said no", e.At.Add(-2*time.Second), e.At
	for _, c := range change {
		c(e)
	}
	w.publish(e)
	time.Sleep(settled)
}

// decided stores a notice as a shard's owner does, and waits until it has had its effect.
func (w *world) decided(status job.Status, reason string, names ...job.Name) {
	w.t.Helper()
	o := journal.Outcome{Status: status, Cause: job.CauseSchedule, Reason: reason, FireTime: time.Now().UTC().Truncate(time.Second)}
	for _, n := range names {
		o.Jobs = append(o.Jobs, journal.JobVersion(n, 1))
	}
	r := &journal.Record{Shard: names[0].Shard(shards), Commit: "c", Node: "n", At: time.Now(), Outcomes: []journal.Outcome{
		{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: time.Now(), Jobs: []string{"other/job@1"}}, o,
	}}
	m, err := r.Notice()
	if err == nil {
		_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(settled)
}

// wantSent checks what was sent since it was asked last: each the event and the title.
func (w *world) wantSent(want ...string) []request {
	w.t.Helper()
	w.mu.Lock()
	got := w.got
	w.got = nil
	w.mu.Unlock()
	var texts []string
	for _, r := range got {
		var m alert.Message
		if err := json.Unmarshal([]byte(r.body), &m); err != nil {
			w.t.Fatalf("body %s: %v", r.body, err)
		}
		texts = append(texts, fmt.Sprintf("%s %s", m.Event, m.Title))
	}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("at %s were sent %q, want %q", time.Now().Format(time.TimeOnly), texts, want)
	}
	return got
}

// incidents returns all incidents, the newest first.
func isDefault(rule string) bool {
	return slices.ContainsFunc(alert.Defaults(), func(r alerting.Rule) bool { return r.Alert == rule })
}

func (w *world) incidents() []alerting.Incident {
	w.t.Helper()
	list, err := w.book.Incidents(w.t.Context(), func(inc *alerting.Incident) bool { return !isDefault(inc.Rule) })
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// wantDeliveries checks the deliveries of the newest incident.
func (w *world) wantDeliveries(want ...string) alerting.Incident {
	w.t.Helper()
	list := w.incidents()
	if len(list) == 0 {
		w.t.Fatal("there is no incident")
	}
	var texts []string
	for _, d := range list[0].Deliveries {
		texts = append(texts, fmt.Sprintf("%s %s %s %d %s", d.Channel, d.Kind, d.State, d.Attempts, d.Reason))
	}
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("deliveries %q, want %q", texts, want)
	}
	return list[0]
}

// notices returns how many notices nobody has read.
func (w *world) notices() int {
	n := 0
	err := w.conn.Scan(w.t.Context(), bus.StreamTrig, bus.SubjectNotices, func(*jet.Stored) bool { n++; return true })
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// beat writes a heartbeat of an instance.
func (w *world) beat(group string) {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketInst)
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: group, Instance: "i", State: fleet.InstanceOnline, Protocol: fleet.Protocol}})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := kv.Put(w.t.Context(), group+".i", data); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(data []byte, subject string) {
	w.t.Helper()
	if _, err := w.conn.JS.Publish(w.t.Context(), subject, data, jetstream.WithRetryAttempts(1)); err != nil {
		w.t.Fatal(err)
	}
}
