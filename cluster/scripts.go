package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Scripts are the scripts of executor groups, by their digests.
type Scripts struct{ conn *Conn }

// Scripts returns the scripts of groups.
func (c *Conn) Scripts() Scripts { return Scripts{c} }

// provide makes sure that the group has the scripts of j, before a version of the
// job that needs them can be read by anybody.
func (ss Scripts) provide(ctx context.Context, j job.Job) error {
	for field, task := range j.Tasks() {
		if task.Script == nil {
			continue
		}
		if err := ss.provideOne(ctx, j.Job, field+".script", task.Script); err != nil {
			return err
		}
	}
	return nil
}

// provideOne is [Scripts.provide] for the script in a field of a job.
func (ss Scripts) provideOne(ctx context.Context, name job.Name, field string, s *job.Script) error {
	group := name.Group()
	digest := s.Digest
	if s.Source != "" {
		digest = job.DigestOf(s.Source)
	}
	text := []byte(s.Source)
	m, err := ss.conn.Last(ctx, "KV_"+bus.BucketScript, bus.SubjectScript(group, digest))
	if err == nil && m.Header.Get("KV-Operation") != "" { // that it was removed
		err = jet.ErrNoMessage
	}
	switch {
	case err == nil && time.Since(m.At) < scriptFresh:
		return nil
	case err == nil:
		text = m.Data // written anew, so that housekeeping leaves it alone
	case !errors.Is(err, jet.ErrNoMessage):
		return err
	case s.Source == "":
		return &job.InvalidError{Field: field + ".digest", Reason: fmt.Sprintf("%q names no script that group %s has; give its source", digest, group)}
	}
	kv, bad := ss.conn.Bucket(ctx, bus.BucketScript)
	if bad != nil {
		return bad
	}
	if errors.Is(err, jet.ErrNoMessage) {
		if err := ss.check(ctx, kv, group, field); err != nil {
			return err
		}
	}
	if _, err := kv.Put(ctx, group+"."+digest, text); err != nil {
		return fmt.Errorf("write script of job %s: %w", name, jet.Unavailable(err))
	}
	return nil
}

// MaxGroupScripts is how many scripts a group may have.
const MaxGroupScripts = 10_000

// check returns an *InvalidError for field if a group has as many scripts as it may. They are counted one by
// one only where that matters: what was removed has left a mark.
func (ss Scripts) check(ctx context.Context, kv jetstream.KeyValue, group, field string) error {
	marks, err := ss.conn.CountBySubject(ctx, "KV_"+bus.BucketScript, bus.SubjectScript(group, "*"))
	if err != nil || len(marks) < MaxGroupScripts {
		return err
	}
	keys, err := kv.ListKeysFiltered(ctx, group+".*")
	if err != nil {
		return fmt.Errorf("count scripts of group %s: %w", group, jet.Unavailable(err))
	}
	n := 0
	for range keys.Keys() {
		n++
	}
	if n >= MaxGroupScripts {
		return &job.InvalidError{Field: field, Reason: refusal.GroupHasScripts.With(group, n)}
	}
	return nil
}

// A script that no version uses goes when it is ScriptKept old, and was not needed for as
// long. One that is saved again is written anew unless it was so within scriptFresh:
// between its check and its version it stays.
const (
	ScriptKept  = 24 * time.Hour
	scriptFresh = time.Hour
)

// RemoveUnused removes the scripts that no version of a job uses and that are old
// enough, and returns how many there were. It reads all versions of all jobs, if there
// are such scripts at all.
func (ss Scripts) RemoveUnused(ctx context.Context) (removed int, err error) {
	kv, err := ss.conn.Bucket(ctx, bus.BucketScript)
	if err != nil {
		return 0, err
	}
	old, err := ss.old(ctx)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	if err := ss.keepUsed(ctx, old); err != nil {
		return 0, err
	}
	for key, revision := range old {
		// Conditional: it may have been saved again since.
		err := kv.Purge(ctx, key, jetstream.LastRevision(revision))
		switch {
		case err == nil:
			removed++
		case !jet.LostRace(err):
			return removed, fmt.Errorf("remove script %s: %w", key, jet.Unavailable(err))
		}
	}
	return removed, nil
}

// old returns the revisions of scripts that are ScriptKept old, by their keys.
func (ss Scripts) old(ctx context.Context) (map[string]uint64, error) {
	old := map[string]uint64{}
	err := ss.conn.Entries(ctx, bus.BucketScript, ">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() == jetstream.KeyValuePut && time.Since(e.Created()) > ScriptKept {
			old[e.Key()] = e.Revision()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return old, nil
}

// keepUsed takes those out of scripts that a version of a job uses.
func (ss Scripts) keepUsed(ctx context.Context, scripts map[string]uint64) error {
	return ss.conn.Entries(ctx, bus.BucketJobs, ">", true, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		v, err := DecodeJobEntry(e)
		if err != nil {
			return err // what it uses is not known, so nothing is removed
		}
		for _, task := range v.Tasks() {
			if s := task.ByDigest().Script; s != nil {
				delete(scripts, v.Job.Job.Group()+"."+s.Digest)
			}
		}
		return nil
	})
}
