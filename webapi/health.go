package webapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// systemHandlers answer requests about the state of the server and of what it depends on.
type systemHandlers struct {
	conn    *cluster.Conn
	store   logstore.Store
	catalog *catalog.Catalog
	stoodIn StoodIn // tells of who answers for the store; nil if nobody does ever
	version string
	log     *slog.Logger
}

// parkedError says that a shard does not fire. The server is ready all the same: whoever mends the shard
// may need the API. It does not say why, since that may name a job, and anybody may ask for readiness.
type parkedError struct{ shard int }

func (e *parkedError) Error() string {
	return fmt.Sprintf("shard %d does not fire; carillon get nodes says why", e.shard)
}

// checkTimeout is how long readiness waits for each part of the system.
const checkTimeout = 2 * time.Second

// GetVersion answers GET /version.
func (h *systemHandlers) GetVersion(context.Context, GetVersionRequestObject) (*ServerVersion, error) {
	return &ServerVersion{Version: h.version, Go: runtime.Version()}, nil
}

// Healthz answers GET /healthz.
func (h *systemHandlers) Healthz(context.Context, HealthzRequestObject) (*Health, error) {
	return &Health{Status: HealthStatusOk, Checks: []Check{}}, nil
}

// Readyz answers GET /readyz.
func (h *systemHandlers) Readyz(ctx context.Context, _ ReadyzRequestObject) (*answer[Health], error) {
	health := h.health(ctx)
	if health.Status == HealthStatusOk {
		return &answer[Health]{Body: health}, nil
	}
	return &answer[Health]{Body: health, Status: http.StatusServiceUnavailable}, nil
}

// health checks what the server depends on.
func (h *systemHandlers) health(ctx context.Context) Health {
	health := Health{Status: HealthStatusOk}
	check := func(name, detail string, ask func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		c := Check{Name: name, Ok: true}
		if err := ask(ctx); err != nil {
			h.log.DebugContext(ctx, "not ready", "part", name, "error", err)
			c.Ok, c.Detail = false, detail
			if full, ok := errors.AsType[*cluster.NoRoomError](err); ok {
				c.Detail = full.Reason
			}
			if parked, ok := errors.AsType[*parkedError](err); ok {
				c.Ok, c.Detail = true, parked.Error()
			}
			if silent, ok := errors.AsType[*cluster.SilentError](err); ok {
				c.Ok, c.Detail = silent.Partial, silent.Error()
			}
			if !c.Ok {
				health.Status = HealthStatusUnavailable
			}
		}
		health.Checks = append(health.Checks, c)
	}
	check("bus", "JetStream does not answer", func(ctx context.Context) error {
		if _, err := h.conn.Pauses().Get(ctx, ""); err != nil {
			return err
		}
		return h.conn.Streams().CheckRoom(ctx)
	})
	check("log_store", "the log store does not answer", func(ctx context.Context) error {
		_, err := h.store.Stats(ctx)
		return err
	})
	check("shards", "", func(ctx context.Context) error {
		parked, err := h.conn.Nodes().Parked(ctx, time.Now())
		if err != nil || len(parked) == 0 { // whether JetStream answers is the question of bus
			return nil //nolint:nilerr // so there is nothing to say
		}
		return &parkedError{parked[0].Shard}
	})
	check("jobs", "the jobs are not loaded yet", func(context.Context) error {
		if !h.catalog.Loaded() {
			return errors.New("index is loading")
		}
		return nil
	})
	return health
}
