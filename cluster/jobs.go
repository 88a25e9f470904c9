package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// AuthorSelf is the author of what Carillon changes by itself: it pauses jobs that fail again and
// again.
const AuthorSelf = "carillon"

// Jobs are the jobs of the cluster, each with its versions, in the bucket JOBS.
type Jobs struct{ conn *Conn }

// Jobs returns the jobs that the cluster keeps.
func (c *Conn) Jobs() Jobs { return Jobs{c} }

func (js Jobs) key(name job.Name) string {
	return bus.JobKey(name.Shard(js.conn.cluster.Shards), name)
}

var kindJob = jet.Kind[job.Version]{
	Bucket: bus.BucketJobs,
	Name: func(key string) string {
		name, _ := bus.JobOfKey(key)
		return "job " + string(name)
	},
	Decode: decodeVersion,
}

// dispatchOf reports whether runs of j, or of its steps, need a dispatcher that finds their instance, and one that
// knows their priority.
func dispatchOf(j *job.Job) (routed, governed bool) {
	look := func(of *job.Job) {
		body := bus.BodyOf(&job.Version{Job: *of})
		routed, governed = routed || body.Routed(), governed || of.Priority != job.PriorityNormal
	}
	look(j)
	for i := range j.Steps {
		if j.Steps[i].HasTask() { // no other reaches an executor
			of := j.Steps[i].Effective(j)
			look(&of)
		}
	}
	return routed, governed
}

// Put saves j as the job's next version, and its script for the executors of the
// group. j must be valid. When nothing would change, it returns the present version and
// changed false. Errors: job.ErrConflict when the condition in e does not hold,
// job.ErrInvalid when j names a script that the group does not have, job.ErrUnavailable.
func (js Jobs) Put(ctx context.Context, j job.Job, e Edit) (entry *bus.JobEntry, changed bool, err error) {
	ensure := js.conn.Groups().Ensure
	routed, governed := dispatchOf(&j)
	if routed {
		ensure = js.conn.Groups().Route // earlier than its first run, which would wait for the consumer
	}
	if err := ensure(ctx, j.Job.Group()); err != nil {
		return nil, false, err
	}
	if governed {
		if err := js.conn.Groups().Govern(ctx, j.Job.Group()); err != nil {
			return nil, false, err
		}
	}
	if err := js.conn.Scripts().provide(ctx, j); err != nil {
		return nil, false, err
	}
	return js.edit(ctx, j.Job, e, func(v *job.Version, exists bool) (changed bool, err error) {
		j := j
		if e.KeepPause && exists {
			j.Paused, j.PausedUntil = v.Paused, v.PausedUntil
		}
		if exists && reflect.DeepEqual(v.Job, j) {
			return false, nil
		}
		next := job.Version{Job: j, Version: v.Version}
		if exists {
			next.Skips = v.Skips
		}
		*v = next
		return true, nil
	})
}

// Delete ends a job: from e.At on it does not fire. Its versions stay until
// housekeeping removes them. Errors: job.ErrNotFound, job.ErrConflict,
// job.ErrUnavailable.
func (js Jobs) Delete(ctx context.Context, name job.Name, e Edit) error {
	_, err := js.Edit(ctx, name, e, func(v *job.Version) { v.Deleted = true })
	return err
}

// Edit saves what change makes of the job's present version as its next one.
// Errors as [Jobs.Delete].
func (js Jobs) Edit(ctx context.Context, name job.Name, e Edit, change func(*job.Version)) (*bus.JobEntry, error) {
	entry, _, err := js.edit(ctx, name, e, func(v *job.Version, exists bool) (changed bool, err error) {
		if !exists {
			return false, fmt.Errorf("%w: job %s", job.ErrNotFound, name)
		}
		was := *v
		change(v)
		return v.Deleted || !reflect.DeepEqual(v.Job, was.Job) || !reflect.DeepEqual(v.Skips, was.Skips), nil
	})
	return entry, err
}

// edit stores what change makes of a job's newest version as its next one. change reports whether it has
// changed anything.
func (js Jobs) edit(ctx context.Context, name job.Name, e Edit, change func(v *job.Version, exists bool) (changed bool, err error)) (entry *bus.JobEntry, changed bool, err error) {
	revision, err := kindJob.On(js.conn.Conn).Edit(ctx, js.key(name), func(v *job.Version, revision uint64) (bool, error) {
		was := *v
		exists := revision != 0 && !was.Deleted
		if changed, err = change(v, exists); err != nil {
			return false, err
		}
		if err := e.Check("job "+string(name), exists, revision); err != nil {
			return false, err
		}
		if changed {
			if err := js.checkDecided(ctx, &bus.JobEntry{Version: was, Revision: revision}); err != nil {
				return false, err
			}
			v.Version, v.EffectiveFrom, v.Author, v.Note = was.Version+1, e.after(was.EffectiveFrom), e.Author, e.Note
			v.ForgetSkips()
			v.Format = v.Needs()
			if err := js.conn.Nodes().checkFormat(ctx, name, v.Format); err != nil {
				return false, err
			}
		}
		entry = &bus.JobEntry{Version: *v}
		return changed, nil
	})
	if err != nil {
		return nil, false, err
	}
	entry.Revision = revision
	return entry, changed, nil
}

// checkDecided refuses another version while that would push the oldest one out of the bucket
// before the shard's owner has decided its fires. was is the present version.
func (js Jobs) checkDecided(ctx context.Context, was *bus.JobEntry) error {
	if was.Version.Version < bus.JobHistory {
		return nil
	}
	name := was.Job.Job
	cursor, err := js.conn.Shards().cursor(ctx, name.Shard(js.conn.cluster.Shards))
	if err != nil {
		return fmt.Errorf("read how far the fires of job %s are decided: %w", name, err)
	}
	if cursor.Decided(was, was) {
		return nil
	}
	versions, err := js.Versions(ctx, name)
	if err != nil || len(versions) < bus.JobHistory || cursor.Decided(versions[0], versions[1]) {
		return err
	}
	return fmt.Errorf("%w: job %s has %d versions whose fires no server has decided yet, and no more are kept; save it again when a server with the role scheduler runs",
		job.ErrUnavailable, name, bus.JobHistory)
}

// Get returns a job's present version. Errors: job.ErrNotFound, job.ErrUnavailable.
func (js Jobs) Get(ctx context.Context, name job.Name) (*bus.JobEntry, error) {
	v, revision, err := kindJob.On(js.conn.Conn).Read(ctx, js.key(name))
	if err != nil {
		return nil, err
	}
	if v.Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	}
	return &bus.JobEntry{Version: v, Revision: revision}, nil
}

// Versions returns a job's versions, oldest first, as many as are kept. The last
// may be a tombstone. Errors: job.ErrNotFound, job.ErrUnavailable, a *FormatError.
func (js Jobs) Versions(ctx context.Context, name job.Name) ([]*bus.JobEntry, error) {
	var versions []*bus.JobEntry
	var newer error
	err := js.conn.ReadKeys(ctx, bus.BucketJobs, js.key(name), 1, 0, func(e jetstream.KeyValueEntry) {
		if e.Operation() != jetstream.KeyValuePut { // housekeeping has removed those before
			versions, newer = nil, nil
			return
		}
		v, err := DecodeJobEntry(e)
		if _, ok := errors.AsType[*FormatError](err); ok {
			newer = err
		}
		if err == nil { // else schedulers pass over it, too
			versions = append(versions, v)
		}
	})
	if err = cmp.Or(err, newer); err != nil {
		return nil, fmt.Errorf("read versions of job %s: %w", name, err)
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, name)
	}
	return versions, nil
}

// Names returns the names of all jobs that the bucket knows of, or of those of one
// executor group, sorted. Deleted ones are among them, even those of which no version
// is kept any more.
func (js Jobs) Names(ctx context.Context, group string) ([]job.Name, error) {
	s, err := js.conn.JS.Stream(ctx, "KV_"+bus.BucketJobs)
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", jet.Unavailable(err))
	}
	prefix := "$KV." + bus.BucketJobs + "."
	filter := prefix + ">"
	if group != "" {
		filter = prefix + "*." + group + ".*"
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", jet.Unavailable(err))
	}
	names := make([]job.Name, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		if name, ok := bus.JobOfKey(strings.TrimPrefix(subject, prefix)); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Watch follows all jobs. Its updates give first what there is (with all versions if
// history is true, oldest first for each job), then a nil entry, then every change.
// Entries are read by DecodeJobEntry. Housekeeping purges keys; such entries have no value.
func (js Jobs) Watch(ctx context.Context, history bool) (jetstream.KeyWatcher, error) {
	return js.conn.Watch(ctx, bus.BucketJobs, []string{">"}, history, 0)
}

// WatchChanges follows all jobs from now on: its updates give every change after the
// last one of the bucket that it returns, and one nil entry somewhere among them.
// [Jobs.Read] gives what there was before.
func (js Jobs) WatchChanges(ctx context.Context) (w jetstream.KeyWatcher, bucket *jetstream.StreamInfo, err error) {
	if bucket, err = js.Info(ctx); err != nil {
		return nil, nil, err
	}
	w, err = js.conn.Watch(ctx, bus.BucketJobs, []string{">"}, true, bucket.State.LastSeq+1)
	return w, bucket, err
}

// Info returns how the stream below the bucket is, as its leader knows: its sequences
// are the revisions. Errors: job.ErrUnavailable.
func (js Jobs) Info(ctx context.Context) (*jetstream.StreamInfo, error) {
	return js.conn.Info(ctx, bucketPrefix+bus.BucketJobs)
}

// Read calls yield with all changes of a shard's jobs after a revision, in order,
// until the bucket's leader has no more. known is a revision that the caller has heard of:
// a leader that does not know of it, because it was cut off from the others, is not
// believed. When the error is not nil, it is job.ErrUnavailable, and changes may be missing
// after those that were given.
func (js Jobs) Read(ctx context.Context, shard int, after, known uint64, yield func(jetstream.KeyValueEntry)) error {
	return js.conn.ReadKeys(ctx, bus.BucketJobs, strconv.Itoa(shard)+".>", after+1, known, yield)
}

// ReadAll is [Jobs.Read] for all shards. The NATS server looks at all jobs for each
// shard that is read by itself, and lets go of what it has read if everything is read at once.
func (js Jobs) ReadAll(ctx context.Context, after, known uint64, yield func(jetstream.KeyValueEntry)) error {
	return js.conn.ReadKeys(ctx, bus.BucketJobs, ">", after+1, known, yield)
}

// FormatError says that a newer server saved a version of a job, and that this program cannot read it. It is
// a job.ErrConflict.
type FormatError struct {
	Job     job.Name
	Version int
	Format  int
}

func (e *FormatError) Error() string { return refusal.VersionOfNewer.With(e.Version, e.Job, e.Format) }

// Unwrap returns job.ErrConflict.
func (e *FormatError) Unwrap() error { return job.ErrConflict }

// DecodeJobEntry reads an entry of the bucket. The error is a *FormatError, or an *InvalidError about what
// is damaged.
func DecodeJobEntry(e jetstream.KeyValueEntry) (*bus.JobEntry, error) {
	v, err := decodeVersion(e.Key(), e.Value())
	if err != nil {
		return nil, err
	}
	return &bus.JobEntry{Version: v, Revision: e.Revision()}, nil
}

// storedVersion decodes versions as encoding/json does, in a third of the time: a node that starts
// reads all of them. Most versions have these objects, and their own methods allocate a decoder.
var storedVersion = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFunc(func(data []byte, m *job.Misfire) error {
		type plain job.Misfire
		return decodeObject(data, m, (*plain)(m))
	}),
	jsonv2.UnmarshalFunc(func(data []byte, o *job.Overlap) error {
		type plain job.Overlap
		return decodeObject(data, o, (*plain)(o))
	}),
	jsonv2.UnmarshalFunc(func(data []byte, r *job.Retry) error {
		type plain job.Retry
		return decodeObject(data, r, (*plain)(r))
	}),
)))

// decodeObject decodes an object strictly into plain. What that refuses is given to v, which is the same
// with its method: it also reads text, and says what is wrong.
func decodeObject(data []byte, v json.Unmarshaler, plain any) error {
	if jsonv2.Unmarshal(data, plain, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true)) == nil {
		return nil
	}
	return v.UnmarshalJSON(data)
}

func decodeVersion(key string, data []byte) (v job.Version, err error) {
	err = jsonv2.Unmarshal(data, &v, storedVersion)
	if err == nil && v.Format <= job.VersionFormat {
		return v, nil
	}
	var newer struct{ Version, Format int }
	if json.Unmarshal(data, &newer) == nil && newer.Format > job.VersionFormat {
		name, _ := bus.JobOfKey(key)
		return v, &FormatError{name, newer.Version, newer.Format}
	}
	return v, &job.InvalidError{Field: "job", Reason: fmt.Sprintf("at key %s of bucket %s is damaged: %v", key, bus.BucketJobs, err)}
}

// RemoveDeleted removes all versions of jobs that were deleted before the given
// instant. The names are free again, and begin at version 1.
func (js Jobs) RemoveDeleted(ctx context.Context, before time.Time) error {
	jobs := kindJob.On(js.conn.Conn)
	return js.conn.Entries(ctx, bus.BucketJobs, ">", false, func(e jetstream.KeyValueEntry) error {
		if e.Operation() != jetstream.KeyValuePut {
			return nil
		}
		v, err := DecodeJobEntry(e)
		if err != nil || !v.Deleted || !v.EffectiveFrom.Before(before) {
			return nil //nolint:nilerr // what cannot be read stays
		}
		// Conditional on the tombstone being the last word: the job may have come back.
		if err := jobs.Remove(ctx, e.Key(), v.Revision); !errors.Is(err, job.ErrConflict) {
			return err
		}
		return nil
	})
}
