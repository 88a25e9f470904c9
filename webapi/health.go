package webapi

import (
	"context"
	"errors"
	"runtime"
	"time"

	"carillon/bus/cluster"
)

// checkTimeout is how long readiness waits for each part of the system.
const checkTimeout = 2 * time.Second

// GetVersion answers GET /version.
func (h *handlers) GetVersion(context.Context, GetVersionRequestObject) (GetVersionResponseObject, error) {
	return GetVersion200JSONResponse{Version: h.version, Go: runtime.Version()}, nil
}

// Healthz answers GET /healthz.
func (h *handlers) Healthz(context.Context, HealthzRequestObject) (HealthzResponseObject, error) {
	return Healthz200JSONResponse{Status: HealthStatusOk, Checks: []Check{}}, nil
}

// Readyz answers GET /readyz.
func (h *handlers) Readyz(ctx context.Context, _ ReadyzRequestObject) (ReadyzResponseObject, error) {
	health := Health{Status: HealthStatusOk}
	check := func(name, detail string, ask func(context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		c := Check{Name: name, Ok: true}
		if err := ask(ctx); err != nil {
			h.log.DebugContext(ctx, "not ready", "part", name, "error", err)
			c.Ok, c.Detail, health.Status = false, detail, HealthStatusUnavailable
			if full, ok := errors.AsType[*cluster.NoRoomError](err); ok {
				c.Detail = full.Reason
			}
		}
		health.Checks = append(health.Checks, c)
	}
	check("bus", "JetStream does not answer", func(ctx context.Context) error {
		if _, err := h.conn.GetHold(ctx); err != nil {
			return err
		}
		return h.conn.CheckRoom(ctx)
	})
	check("log_store", "the log store does not answer", func(ctx context.Context) error {
		_, err := h.store.Stats(ctx)
		return err
	})
	check("jobs", "the jobs are not loaded yet", func(context.Context) error {
		select {
		case <-h.index.loaded:
			return nil
		default:
			return errors.New("index is loading")
		}
	})
	if health.Status == HealthStatusOk {
		return Readyz200JSONResponse(health), nil
	}
	return Readyz503JSONResponse(health), nil
}
