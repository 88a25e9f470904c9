package catalog

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

const shards = 4

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// local returns a context of a request that somebody on this machine makes.
func local(ctx context.Context) context.Context {
	return access.With(ctx, &access.Caller{Who: auth.Local("ann")})
}

// connect returns a connection to a broker with all that a cluster has.
func connect(t *testing.T, broker *bustest.Broker, name string) *cluster.Conn {
	t.Helper()
	conn := clustertest.Setup(t, broker, name, shards)
	return conn
}
