package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// group is the executor group of the executor under test.
const group = "conformance"

// heard is a message of the executor.
type heard struct {
	at      time.Time
	subject string
	header  nats.Header
	data    []byte
}

// String shows a message as a report does.
func (h heard) String() string {
	text := string(h.data)
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	id := ""
	if v := h.header.Get(nats.MsgIdHdr); v != "" {
		id = " " + nats.MsgIdHdr + ": " + v
	}
	return h.subject + id + " " + text
}

// nextPrefix begins the subjects of pull requests; the stream and the consumer follow.
const nextPrefix = "$JS.API.CONSUMER.MSG.NEXT."

// pull is a pull request that waits for triggers.
type pull struct {
	from   bus.Consumer
	reply  string
	left   int
	end    time.Time
	beat   time.Duration
	beatAt time.Time
}

// stage plays JetStream and a server for one executor.
type stage struct {
	*broker
	tokens *bus.Tokens
	ahead  time.Duration // of NATS' clock, before the machine's

	mu    sync.Mutex
	more  chan struct{} // closed by the next message, which makes a new one
	all   []heard
	pulls []*pull
	asked []pullRequest
	seq   uint64
	kept  map[string]entry // the last message of each key, by subject
	ids   map[string]uint64

	starting
	faults
	tries      map[string]int // of events and claims, by id
	unanswered []*nats.Msg    // log batches
}

// faults is how the stage answers otherwise than usual. Cases set them through do.
type faults struct {
	noConsumer bool                             // pull requests get 503
	silentLog  bool                             // log batches get no answer, but wait for answerLogs
	event      func(h heard, n int) eventAnswer // for the nth time (from 1) that this id comes
	claim      func(n int) claimAnswer          // for the nth time (from 1) that a claim comes
	lags       int                              // so many reads of keys find nothing
}

// claimAnswer is what becomes of a claim.
type claimAnswer int

const (
	claimUsual      claimAnswer = iota
	claimInFlight               // refused: replicas have yet to confirm another one
	claimUnanswered             // stored, and the answer gets lost
	claimLost                   // neither stored nor answered
)

type entry struct {
	seq    uint64
	header nats.Header
	data   []byte
	at     time.Time
}

// pullRequest is what an executor asked for.
type pullRequest struct {
	Batch         int           `json:"batch"`
	Expires       time.Duration `json:"expires"`
	IdleHeartbeat time.Duration `json:"idle_heartbeat"`
	from          bus.Consumer
	reply         string
	at            time.Time
}

// eventAnswer is what JetStream says to an event.
type eventAnswer int

const (
	store  eventAnswer = iota
	refuse             // an error
	ignore             // nothing
)

func newStage(ctx context.Context, c Case) (*stage, error) {
	b, err := startBroker(ctx, c.Payload)
	if err != nil {
		return nil, err
	}
	s := &stage{broker: b, ahead: c.Ahead, tokens: bus.NewTokens(), more: make(chan struct{}), kept: map[string]entry{}, ids: map[string]uint64{}, starting: starting{ids: map[string]job.RunID{}}, tries: map[string]int{}}
	// One channel, so that messages are heard in the order in which they were sent.
	in := make(chan *nats.Msg, 64<<10)
	for _, subject := range []string{"$JS.API.CONSUMER.MSG.NEXT.*.*", "$JS.API.DIRECT.GET.>", "$JS.ACK.>", "$KV.>", "evt.*.*", "log.*.*", "hand.*", "start.*"} {
		if _, err := b.nc.ChanSubscribe(subject, in); err != nil {
			b.close()
			return nil, err
		}
	}
	go func() {
		for {
			select {
			case m := <-in:
				s.hear(m)
			case <-ctx.Done():
				return
			}
		}
	}()
	return s, b.nc.Flush()
}

// now returns the time by NATS' clock.
func (s *stage) now() time.Time { return time.Now().Add(s.ahead).UTC().Truncate(time.Millisecond) }

// hear keeps a message, wakes who waits for one, and answers it.
func (s *stage) hear(m *nats.Msg) {
	s.mu.Lock()
	s.all = append(s.all, heard{time.Now(), m.Subject, m.Header, slices.Clone(m.Data)})
	close(s.more)
	s.more = make(chan struct{})
	s.mu.Unlock()
	switch first, _, _ := strings.Cut(m.Subject, "."); {
	case strings.HasPrefix(m.Subject, nextPrefix):
		s.onPull(m)
	case strings.HasPrefix(m.Subject, "$JS.API.DIRECT.GET."):
		s.onGet(m)
	case first == "$KV":
		s.onPut(m)
	case first == "evt":
		s.onEvent(m)
	case first == "log":
		s.onLog(m)
	case first == "hand":
		s.onHand(m)
	case first == "start":
		s.onStart(m)
	}
}

// do changes how the stage answers.
func (s *stage) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// mark returns how many messages there are, for [stage.since].
func (s *stage) mark() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// since returns the messages from a mark on that match.
func (s *stage) since(mark int, match func(heard) bool) []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []heard
	for _, h := range s.all[mark:] {
		if match(h) {
			found = append(found, h)
		}
	}
	return found
}

// await waits until n messages from a mark on match, and returns them. On the way it sends idle
// heartbeats and ends pull requests, as JetStream does.
func (s *stage) await(ctx context.Context, mark, n int, within time.Duration, match func(heard) bool) ([]heard, bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		s.mu.Lock()
		more := s.more
		s.mu.Unlock()
		found := s.since(mark, match)
		if len(found) >= n {
			return found, true
		}
		select {
		case <-more:
		case <-tick.C:
		case <-ctx.Done():
			return found, false
		}
	}
}

// ack answers a publication as JetStream does.
func (s *stage) ack(m *nats.Msg, stream string, seq uint64, duplicate bool) {
	if m.Reply == "" {
		return
	}
	answer := map[string]any{"stream": stream, "seq": seq}
	if duplicate {
		answer["duplicate"] = true
	}
	s.answer(m, answer)
}

func (s *stage) reject(m *nats.Msg, code, errCode int, text string) {
	s.answer(m, map[string]any{"error": map[string]any{"code": code, "err_code": errCode, "description": text}})
}

func (s *stage) answer(m *nats.Msg, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	_ = m.Respond(data) // who does not get it asks again, or the case fails
}

func (s *stage) onEvent(m *nats.Msg) {
	id := m.Header.Get(nats.MsgIdHdr)
	s.mu.Lock()
	s.tries[id]++
	n, answer := s.tries[id], store
	if s.event != nil {
		answer = s.event(heard{time.Now(), m.Subject, m.Header, m.Data}, n)
	}
	seq, duplicate := s.ids[id], true
	if answer == store && seq == 0 {
		s.seq++
		seq, duplicate = s.seq, false
		s.ids[id] = seq
	}
	s.mu.Unlock()
	switch answer {
	case store:
		s.ack(m, "EVT", seq, duplicate)
	case refuse:
		s.reject(m, 503, 10077, "maximum bytes exceeded")
	case ignore:
	}
}

func (s *stage) onLog(m *nats.Msg) {
	s.mu.Lock()
	s.seq++
	seq := s.seq
	silent := s.silentLog
	if silent {
		s.unanswered = append(s.unanswered, m)
	}
	s.mu.Unlock()
	if !silent {
		s.ack(m, "LOG", seq, false)
	}
}

// answerLogs answers the log batches that wait, and all that come from now on.
func (s *stage) answerLogs() {
	s.mu.Lock()
	waiting := s.unanswered
	s.unanswered, s.silentLog = nil, false
	s.mu.Unlock()
	for _, m := range waiting {
		s.onLog(m)
	}
}

// onHand takes a trigger over, as a server does, and does nothing with it.
func (s *stage) onHand(m *nats.Msg) { s.answer(m, map[string]any{"value": map[string]any{}}) }

// onPut keeps the message of a key, if it is as its header expects.
func (s *stage) onPut(m *nats.Msg) {
	bucket := strings.SplitN(m.Subject, ".", 3)[1]
	s.mu.Lock()
	last := s.kept[m.Subject]
	s.tries[m.Subject]++
	var answer claimAnswer
	if s.claim != nil && bucket == bus.BucketClaim {
		answer = s.claim(s.tries[m.Subject])
	}
	code, why := 0, "wrong last sequence"
	switch want := m.Header.Get(nats.ExpectedLastSubjSeqHdr); {
	case answer == claimInFlight:
		code = 10164
	case want != "" && want != strconv.FormatUint(last.seq, 10):
		code, why = 10071, fmt.Sprintf("wrong last sequence: %d", last.seq)
	}
	var seq uint64
	if code == 0 && answer != claimLost {
		s.seq++
		seq = s.seq
		s.kept[m.Subject] = entry{seq, m.Header, slices.Clone(m.Data), time.Now()}
	}
	s.mu.Unlock()
	switch {
	case code != 0:
		s.reject(m, 400, code, why)
	case answer != claimUnanswered && answer != claimLost:
		s.ack(m, "KV_"+bucket, seq, false)
	}
}

// onGet answers with the last message of a key.
func (s *stage) onGet(m *nats.Msg) {
	_, key, _ := strings.Cut(strings.TrimPrefix(m.Subject, "$JS.API.DIRECT.GET."), ".")
	s.mu.Lock()
	e, ok := s.kept[key]
	if s.lags > 0 {
		ok = false
		s.lags--
	}
	s.mu.Unlock()
	if !ok {
		s.status(m.Reply, "404 Message Not Found")
		return
	}
	answer := nats.NewMsg(m.Reply)
	answer.Data = e.data
	for name, values := range e.header {
		if !strings.HasPrefix(name, "Nats-") {
			answer.Header[name] = values
		}
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(key, "$KV."), ".")
	answer.Header.Set("Nats-Stream", "KV_"+bucket)
	answer.Header.Set("Nats-Subject", key)
	answer.Header.Set("Nats-Sequence", strconv.FormatUint(e.seq, 10))
	answer.Header.Set("Nats-Time-Stamp", e.at.Add(s.ahead).UTC().Format(time.RFC3339Nano))
	_ = s.nc.PublishMsg(answer) // who does not get it asks again, or the case fails
}
