package backup

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
)

// part is a bucket, or what of one is configuration.
type part struct {
	bucket   string
	prefixes []string // none: all
}

// parts is what a backup has, in the order in which it is read: a job names scripts,
// which were there before it.
var parts = []part{
	{bucket: bus.BucketJobs},
	{bucket: bus.BucketCalendar},
	{bucket: bus.BucketGroups},
	{bucket: bus.BucketScript},
	{bucket: bus.BucketSecret},
	{bucket: bus.BucketCluster, prefixes: []string{"hold", "hold.", "retention"}},
	{bucket: bus.BucketAccess, prefixes: []string{"user.", "token.", "credential."}},
	{bucket: bus.BucketAlert, prefixes: []string{"rule.", "channel.", "silence."}},
}

func (p part) has(key string) bool {
	for _, prefix := range p.prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return len(p.prefixes) == 0
}

// operationHeader marks a deletion in a bucket.
const operationHeader = "KV-Operation"

// scan yields all entries of a part, in the order in which they were written. It waits for half
// a minute while NATS does not answer.
func (p part) scan(ctx context.Context, conn *cluster.Conn, yield func(*entry) error) error {
	var failed error
	err := conn.Read(ctx, jet.Reading{Stream: "KV_" + p.bucket, Filter: "$KV." + p.bucket + ".>", Patient: true}, func(s *jet.Stored) bool {
		key := strings.TrimPrefix(s.Subject, "$KV."+p.bucket+".")
		if !p.has(key) {
			return true
		}
		failed = yield(&entry{Bucket: p.bucket, Key: key, Deleted: s.Header.Get(operationHeader) != "", Value: s.Data})
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("read bucket %s: %w", p.bucket, err)
	}
	return nil
}

// Take writes a backup of what there is to w, and returns how many entries it has.
// conn must be open.
func Take(ctx context.Context, conn *cluster.Conn, w io.Writer, version string) (entries int, err error) {
	out, err := newWriter(w, Head{Format: format, MadeAt: time.Now().UTC().Truncate(time.Millisecond), Version: version, Shards: conn.Cluster().Shards, Partitions: conn.Cluster().Partitions})
	if err != nil {
		return 0, err
	}
	for _, p := range parts {
		if err := p.scan(ctx, conn, out.add); err != nil {
			return 0, err
		}
	}
	return out.entries, out.close()
}
