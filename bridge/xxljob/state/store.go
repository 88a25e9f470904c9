package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	prefix = "$KV." + bus.BucketXXLJob + "."
	stream = "KV_" + bus.BucketXXLJob
)

// Store reads and writes the bucket. It is safe for concurrent use.
type Store struct {
	conn   *jet.Conn
	groups []string
}

// New returns a store on conn for groups. Without any it is for all groups, and conn needs the rights of a
// server.
func New(conn *jet.Conn, groups ...string) *Store { return &Store{conn, groups} }

// CheckCredential returns an *InvalidError about the groups of the store that the credential of its
// connection does not cover. While NATS does not answer, no group is found.
func (s *Store) CheckCredential(ctx context.Context) error {
	var lacking []string
	for _, group := range s.groups {
		if !s.conn.MayPublish(ctx, bus.SubjectBridge(group)) {
			lacking = append(lacking, group)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return &job.InvalidError{Field: "groups", Reason: fmt.Sprintf(
		"must be groups of the credential, which does not cover %s: remove these, or create one with \"carillon credential create NAME -g %s --bridge-groups %s\"",
		strings.Join(lacking, ", "), s.groups[0], strings.Join(s.groups, ","))}
}

// all matches every group.
const all = "*"

// scanned returns the groups that are read for the whole fleet.
func (s *Store) scanned() []string {
	if len(s.groups) == 0 {
		return []string{all}
	}
	return s.groups
}

// entry is an entry of the bucket, with its key after the group.
type entry struct {
	group, key string
	sequence   uint64
	removed    bool
	value      []byte
}

// scan yields the entries of a group whose keys match filter, from a sequence on. Any replica answers.
func (s *Store) scan(ctx context.Context, group, filter string, from uint64, yield func(entry)) error {
	if len(s.groups) == 0 {
		return s.conn.Read(ctx, jet.Reading{Stream: stream, Filter: prefix + group + "." + filter, From: from, AnyReplica: true}, func(m *jet.Stored) bool {
			group, key, _ := strings.Cut(m.Subject[len(prefix):], ".")
			yield(entry{group, key, m.Seq, m.Header.Get("KV-Operation") != "", m.Data})
			return true
		})
	}
	for {
		page, err := s.ask(ctx, group, bus.BridgeScan{Filter: filter, From: from})
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			yield(entry{group, e.Key, e.Sequence, e.Removed, e.Value})
		}
		if !page.More || page.Next <= from {
			return nil
		}
		from = page.Next
	}
}

// askWait is how long a server may take to answer.
const askWait = 5 * time.Second

func (s *Store) ask(ctx context.Context, group string, scan bus.BridgeScan) (*bus.BridgePage, error) {
	data, err := json.Marshal(scan)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	m, err := s.conn.NC.RequestWithContext(ctx, bus.SubjectBridge(group), data)
	if err != nil {
		return nil, fmt.Errorf("%w: ask a server what bridges keep of group %s: %w", job.ErrUnavailable, group, err)
	}
	page, err := bus.DecodeBridgePage(m.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: ask a server what bridges keep of group %s: %w", job.ErrUnavailable, group, err)
	}
	return page, nil
}

// Fence is the revision of an instance that its server knows.
type Fence struct {
	Group, Instance string
	Revision        uint64
}

// anyRevision is that of a write without condition.
const anyRevision = -1

// condition says when a value may be written.
type condition struct {
	revision int64  // of the key, or of the one that is fenced by; anyRevision: always
	key      string // which is fenced by; "": the one that is written
}

// put stores a value, for ttl unless that is zero. The error is job.ErrConflict if the condition does
// not hold, job.ErrUnavailable if it is not known whether the value is stored.
func (s *Store) put(ctx context.Context, key string, value any, ttl time.Duration, c condition) (uint64, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("encode %s: %w", key, err)
	}
	m := &nats.Msg{Subject: prefix + key, Data: data, Header: nats.Header{}}
	return s.publish(ctx, m, ttl, c)
}

func (s *Store) publish(ctx context.Context, m *nats.Msg, ttl time.Duration, c condition) (uint64, error) {
	if ttl > 0 {
		m.Header.Set(jetstream.MsgTTLHeader, ttl.String())
	}
	if c.revision != anyRevision {
		m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatInt(c.revision, 10))
	}
	if c.key != "" {
		m.Header.Set("Nats-Expected-Last-Subject-Sequence-Subject", prefix+c.key)
	}
	ctx, cancel := context.WithTimeout(ctx, jet.BatchTimeout)
	defer cancel()
	var ack *jetstream.PubAck
	err := jet.AfterOthers(ctx, func(ctx context.Context) (err error) { // runs that begin together share a fence
		ack, err = s.conn.JS.PublishMsg(ctx, m)
		return err
	})
	switch {
	case jet.WrongLast(err):
		return 0, fmt.Errorf("%w: %s was changed by another", job.ErrConflict, m.Subject[len(prefix):])
	case err != nil:
		return 0, fmt.Errorf("write %s: %w", m.Subject[len(prefix):], jet.Unavailable(err))
	}
	return ack.Sequence, nil
}

// remove deletes a key. Nobody waits for it.
func (s *Store) remove(key string) error {
	m := &nats.Msg{Subject: prefix + key, Header: nats.Header{"KV-Operation": {"DEL"}}}
	m.Header.Set(jetstream.MsgTTLHeader, time.Minute.String())
	return s.conn.NC.PublishMsg(m)
}

// get reads a key into value, and returns its revision. A replica that lags behind may answer. So a
// caller makes the revision a condition of what it writes next. The error is job.ErrNotFound if
// several tries in a row have found nothing.
func (s *Store) get(ctx context.Context, key string, value any) (uint64, error) {
	m, err := s.conn.Direct(ctx, stream, prefix+key)
	return read(m, err, key, value)
}

// now is get, with one try: for what is mostly not there.
func (s *Store) now(ctx context.Context, key string, value any) (uint64, error) {
	m, err := s.conn.DirectOnce(ctx, stream, prefix+key)
	return read(m, err, key, value)
}

func read(m *jet.Stored, err error, key string, value any) (uint64, error) {
	switch {
	case errors.Is(err, jet.ErrNoMessage):
		return 0, fmt.Errorf("%w: %s", job.ErrNotFound, key)
	case err != nil:
		return 0, err
	case m.Header.Get("KV-Operation") != "":
		return m.Seq, fmt.Errorf("%w: %s", job.ErrNotFound, key)
	}
	if err := json.Unmarshal(m.Data, value); err != nil {
		return m.Seq, &job.InvalidError{Field: key, Reason: fmt.Sprintf("in bucket %s is damaged: %v", bus.BucketXXLJob, err)}
	}
	return m.Seq, nil
}
