package backup

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// Difference is a key whose present value is not that of a backup.
type Difference struct {
	// What would happen to it: "create" or "change"; "foreign" is there, and not in
	// the backup.
	What string `json:"what"`
	Name string `json:"name"`
}

// Compare returns how a system differs from a backup, in order of name.
func (f *File) Compare(ctx context.Context, conn *cluster.Conn) ([]Difference, error) {
	there, err := present(ctx, conn)
	if err != nil {
		return nil, err
	}
	return f.differences(there, conn.Cluster().Shards), nil
}

// CompareWithNothing is [File.Compare] for a NATS account that has no Carillon yet.
func (f *File) CompareWithNothing() []Difference {
	return f.differences(map[string]*entry{}, f.Head.Shards)
}

func (f *File) differences(there map[string]*entry, shards int) []Difference {
	ours := map[string]*entry{}
	for i := range f.entries {
		e := f.entries[i]
		e.Key = keyFor(&e, shards)
		ours[e.Bucket+"/"+e.Key] = &e
	}
	list := []Difference{}
	for id, e := range ours {
		was, known := there[id]
		switch {
		case e.Deleted && !known:
		case !known:
			list = append(list, Difference{"create", nameOf(e)})
		case e.Deleted || !bytes.Equal(was.Value, e.Value):
			list = append(list, Difference{"change", nameOf(e)})
		}
	}
	for id, e := range there {
		if _, known := ours[id]; !known {
			list = append(list, Difference{"foreign", nameOf(e)})
		}
	}
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Name+a.What, b.Name+b.What) })
	return list
}

// present returns what is in the system, by bucket and key.
func present(ctx context.Context, conn *cluster.Conn) (map[string]*entry, error) {
	there := map[string]*entry{}
	for _, p := range parts {
		err := p.scan(ctx, conn, func(e *entry) error {
			if e.Deleted {
				delete(there, e.Bucket+"/"+e.Key)
			} else {
				there[e.Bucket+"/"+e.Key] = e
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

// keyFor returns an entry's key in a system with so many shards: a job's begins with
// its shard.
func keyFor(e *entry, shards int) string {
	if e.Bucket != bus.BucketJobs {
		return e.Key
	}
	_, name, _ := strings.Cut(e.Key, ".")
	group, short, _ := strings.Cut(name, ".")
	return strconv.Itoa(job.Name(group+"/"+short).Shard(shards)) + "." + name
}

// kinds is what people call the entries of a bucket.
var kinds = map[string]string{
	bus.BucketJobs: "job", bus.BucketCalendar: "calendar", bus.BucketGroups: "group", bus.BucketScript: "script", bus.BucketSecret: "secret",
}

func nameOf(e *entry) string {
	kind, known := kinds[e.Bucket]
	switch {
	case e.Bucket == bus.BucketJobs:
		_, name, _ := strings.Cut(e.Key, ".")
		return kind + " " + strings.Replace(name, ".", "/", 1)
	case known:
		return kind + " " + strings.Replace(e.Key, ".", "/", 1)
	}
	return strings.Replace(e.Key, ".", " ", 1)
}

// Restore writes a backup into a system that is set up, empty, and on which no server
// runs; else the error is job.ErrConflict, and nothing was written or noted. One that broke off
// begins from the start. To restore the same backup a second time does nothing.
func (f *File) Restore(ctx context.Context, conn *cluster.Conn) error {
	begun, err := conn.Restore().Running(ctx)
	if err != nil {
		return err
	}
	if begun != "" && begun != f.Sum {
		return fmt.Errorf("%w: the restore of another backup was interrupted; finish that one, with its file", job.ErrConflict)
	}
	if err := unused(ctx, conn); err != nil {
		return err
	}
	there, err := present(ctx, conn)
	if err != nil {
		return err
	}
	switch {
	case begun != "":
		// The rest is to be written, too; what is not of this backup came from elsewhere.
		if err := f.onlyOurs(there, conn.Cluster().Shards); err != nil {
			return err
		}
		if err := clean(ctx, conn); err != nil {
			return err
		}
	case len(there) > 0 && len(f.differences(there, conn.Cluster().Shards)) == 0:
		return nil
	case len(there) > 0:
		return notEmpty(there)
	default:
		if err := conn.Restore().Begin(ctx, f.Sum); err != nil {
			return err
		}
	}
	for i := range f.entries {
		e := &f.entries[i]
		m := nats.NewMsg("$KV." + e.Bucket + "." + keyFor(e, conn.Cluster().Shards))
		if m.Data = e.Value; e.Deleted {
			m.Header.Set(operationHeader, "DEL")
		}
		if _, err := conn.JS.PublishMsg(ctx, m); err != nil {
			return fmt.Errorf("write %s: %w", nameOf(e), jet.Unavailable(err))
		}
	}
	return conn.Restore().End(ctx)
}

// onlyOurs returns job.ErrConflict when there is something that is not of the backup.
func (f *File) onlyOurs(there map[string]*entry, shards int) error {
	foreign := maps.Clone(there)
	for i := range f.entries {
		e := f.entries[i]
		id := e.Bucket + "/" + keyFor(&e, shards)
		if was := there[id]; was != nil && bytes.Equal(was.Value, e.Value) {
			delete(foreign, id)
		}
	}
	if len(foreign) > 0 {
		return notEmpty(foreign)
	}
	return nil
}

// notEmpty says that a system has something already.
func notEmpty(there map[string]*entry) error {
	var names []string
	for _, e := range there {
		names = append(names, nameOf(e))
	}
	slices.Sort(names)
	return fmt.Errorf("%w: the system is not empty: it has %d things, such as %s; --dry-run shows how they differ", job.ErrConflict, len(there), names[0])
}

// unused returns job.ErrConflict when a server runs on the system, or has fired on it:
// jobs that come to be behind a shard's position would be owed all that they missed.
func unused(ctx context.Context, conn *cluster.Conn) error {
	type look struct{ stream, filter, says string }
	looks := []look{{"KV_" + bus.BucketLease, "$KV." + bus.BucketLease + ".node.*", "a server runs on it; stop all servers first"}}
	for _, stream := range conn.Trigs() {
		looks = append(looks, look{stream, "cur.*", "servers have run on it; restore into a NATS account that has no Carillon yet"})
	}
	for _, one := range looks {
		found := false
		err := conn.Scan(ctx, one.stream, one.filter, func(s *jet.Stored) bool {
			found = s.Header.Get(operationHeader) == "" && s.Header.Get("Nats-Marker-Reason") == ""
			return !found
		})
		if err != nil {
			return err
		}
		if found {
			return fmt.Errorf("%w: the system is in use: %s", job.ErrConflict, one.says)
		}
	}
	return nil
}

// clean takes out what a restore has written that broke off.
func clean(ctx context.Context, conn *cluster.Conn) error {
	for _, p := range parts {
		stream, err := conn.JS.Stream(ctx, "KV_"+p.bucket)
		if err != nil {
			return fmt.Errorf("open bucket %s: %w", p.bucket, jet.Unavailable(err))
		}
		filters := []string{"$KV." + p.bucket + ".>"}
		if len(p.prefixes) > 0 {
			filters = nil
			for _, prefix := range p.prefixes {
				if rest, whole := strings.CutSuffix(prefix, "."); whole {
					prefix = rest + ".>"
				}
				filters = append(filters, "$KV."+p.bucket+"."+prefix)
			}
		}
		for _, filter := range filters {
			if err := stream.Purge(ctx, jetstream.WithPurgeSubject(filter)); err != nil {
				return fmt.Errorf("empty bucket %s: %w", p.bucket, jet.Unavailable(err))
			}
		}
	}
	return nil
}
