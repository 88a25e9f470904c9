package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// tellEvery is the shortest time between two messages to one instance: one that gets
	// something wrong mostly does so with each run.
	tellEvery = time.Second
	// maxQueued bounds the notices that wait, maxTold the instances that are
	// remembered. Beyond, dead letters have to do.
	maxQueued, maxTold = 64, 10_000
)

// teller tells instances which of their messages were refused.
type teller struct {
	conn  *cluster.Conn
	queue chan notice
	told  map[string]time.Time // when each instance was told last, by its key
}

// notice is a refusal, for the instance whose message it was.
type notice struct {
	group, instance string
	refusal         fleet.Refusal
}

func newTeller(conn *cluster.Conn) *teller {
	return &teller{conn: conn, queue: make(chan notice, maxQueued), told: map[string]time.Time{}}
}

// add queues a notice for the instance that m names, if its group may publish on m's
// subject. It does not wait.
func (t *teller) add(stream string, seq uint64, m *nats.Msg, reason error) {
	group := senderOf(m.Subject)
	var says struct {
		Instance string `json:"instance"`
	}
	// Of a pack it is the first line that says so.
	if json.NewDecoder(bytes.NewReader(m.Data)).Decode(&says) != nil || job.CheckSlug("group", group) != nil || job.CheckSlug("instance", says.Instance) != nil {
		return // the dead letter says it to people
	}
	r := fleet.Refusal{Stream: stream, Sequence: seq, Subject: m.Subject, Reason: reason.Error(), At: time.Now().UTC().Truncate(time.Millisecond)}
	select {
	case t.queue <- notice{group, says.Instance, r.Clipped()}:
	default:
	}
}

// senderOf returns the group whose executors publish on a subject of EVT or LOG, "" for others.
func senderOf(subject string) string {
	if group, ok := bus.GroupOfEvents(subject); ok {
		return group
	}
	rest, _ := strings.CutPrefix(subject, "log.")
	group, _, _ := strings.Cut(rest, ".")
	return group
}

// run tells until ctx is done.
func (t *teller) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case u := <-t.queue:
			t.tell(ctx, u)
		}
	}
}

// tell sends one refusal, unless the instance has heard of another just before. Nobody waits for
// the answer.
func (t *teller) tell(ctx context.Context, u notice) {
	key, now := u.group+"."+u.instance, time.Now()
	if now.Sub(t.told[key]) < tellEvery {
		return
	}
	if len(t.told) >= maxTold {
		clear(t.told)
	}
	t.told[key] = now
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("the bucket of heartbeats does not answer"))
	defer cancel()
	h, err := t.conn.Instances().Heartbeat(ctx, u.group, u.instance)
	if err != nil {
		return // it is gone
	}
	body, err := json.Marshal(u.refusal)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	m := bus.NewRequest(h.Address(), bus.VerbRefused, nil, body)
	m.Reply = t.conn.NC.NewInbox() // executors answer every request
	_ = t.conn.NC.PublishMsg(m)    // the next one tells it, or the dead letter
}
