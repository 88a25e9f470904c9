package cluster

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// scanBytes and scanEntries bound an answer to a bridge. With the largest entry it is within the
	// payload that NATS takes.
	scanBytes   = 256 << 10
	scanEntries = 1000
	// scansOfGroup is how many scans of a group a server does at once. Bridges send one after the other.
	scansOfGroup = 4
	scanTimeout  = 5 * time.Second
)

// Bridges are the XXL-JOB bridges, which read their bucket through servers.
type Bridges struct{ conn *Conn }

// Bridges returns the bridges.
func (c *Conn) Bridges() Bridges { return Bridges{c} }

// Serve answers what bridges ask with [bus.BridgeScan], until ctx is done. All servers share the
// requests. A group's bridges get entries of that group, whatever they ask.
func (bs Bridges) Serve(ctx context.Context) error {
	requests := make(chan *nats.Msg, 256)
	sub, err := bs.conn.NC.ChanQueueSubscribe(bus.SubjectBridge("*"), "servers", requests)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	scans := scans{busy: map[string]int{}}
	var work sync.WaitGroup
	defer work.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-requests:
			group := m.Subject[len(bus.SubjectBridge("")):]
			if !scans.begin(group) {
				answerScan(m, &bus.BridgePage{Error: "too many scans of group " + group + " at once"})
				continue
			}
			work.Go(func() {
				defer scans.end(group)
				answerScan(m, bs.scan(ctx, group, m.Data))
			})
		}
	}
}

// scans counts the scans that are under way. It is safe for concurrent use.
type scans struct {
	mu   sync.Mutex
	busy map[string]int // by group
}

func (s *scans) begin(group string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[group] == scansOfGroup {
		return false
	}
	s.busy[group]++
	return true
}

func (s *scans) end(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[group]--; s.busy[group] == 0 {
		delete(s.busy, group)
	}
}

// scan returns a page of what bridges keep of a group. Any replica may answer.
func (bs Bridges) scan(ctx context.Context, group string, data []byte) *bus.BridgePage {
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	s, err := bus.DecodeBridgeScan(data)
	if err == nil {
		err = job.CheckSlug("group", group)
	}
	if err != nil {
		return &bus.BridgePage{Error: err.Error()}
	}
	prefix := "$KV." + bus.BucketXXLJob + "." + group + "."
	page, size := &bus.BridgePage{}, 0
	err = bs.conn.Read(ctx, jet.Reading{Stream: "KV_" + bus.BucketXXLJob, Filter: prefix + s.Filter, From: s.From, AnyReplica: true}, func(m *jet.Stored) bool {
		if size >= scanBytes || len(page.Entries) == scanEntries {
			page.More, page.Next = true, m.Seq
			return false
		}
		e := bus.BridgeEntry{Key: m.Subject[len(prefix):], Sequence: m.Seq, Removed: m.Header.Get("KV-Operation") != ""}
		if json.Valid(m.Data) { // else it says nothing
			e.Value = m.Data
		}
		page.Entries = append(page.Entries, e)
		size += len(e.Key) + len(e.Value)
		return true
	})
	if err != nil {
		return &bus.BridgePage{Error: err.Error()}
	}
	return page
}

// answerScan sends a page. Who asked asks again if it is lost.
func answerScan(m *nats.Msg, page *bus.BridgePage) {
	data, err := json.Marshal(page)
	if err != nil {
		return
	}
	_ = m.Respond(data)
}
