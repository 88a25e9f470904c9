package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

type reportParams struct {
	Region string            `json:"region" jsonschema:"where the customers are"`
	Limit  *int              `json:"limit,omitempty"`
	Every  job.Duration      `json:"every"` // reads itself
	Since  time.Time         `json:"since"`
	Data   []byte            `json:"data"`
	Extra  json.RawMessage   `json:"extra"`
	Tags   map[string]string `json:"tags"`
}

func TestHandlersAreAnnouncedWithWhatTheyTake(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		type written struct {
			Rows int `json:"rows"`
		}
		nop := func(context.Context, *executor.Run, reportParams) (written, error) { return written{}, nil }
		w.start("a", executor.Config{Version: "1.2"}, func(e *executor.Executor) {
			executor.Register(e, "report", nop, executor.Describe("Writes a report"))
			executor.Register(e, "any thing/ü", func(context.Context, *executor.Run, func()) (any, error) { return nil, nil })
			e.Handle("raw", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }), executor.ParamsSchema(json.RawMessage(`{"type":"string"}`)))
		})
		time.Sleep(time.Second)
		got, err := w.conn.Instances().Handlers(t.Context(), "g")
		if err != nil {
			t.Fatal(err)
		}
		want := []bus.Handler{
			{Group: "g", Handler: "any thing/ü", Instance: "a", Version: "1.2", At: began}, // a function has no schema
			{Group: "g", Handler: "raw", Params: json.RawMessage(`{"type":"string"}`), Instance: "a", Version: "1.2", At: began},
			{
				Group: "g", Handler: "report", Description: "Writes a report", Instance: "a", Version: "1.2", At: began,
				Params: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","description":"where the customers are"},` +
					`"limit":{"type":["null","integer"]},"every":true,"since":{"type":"string"},"data":{"type":"string"},"extra":true,` +
					`"tags":{"type":"object","additionalProperties":{"type":"string"}}},"required":["region","every","since","data","extra","tags"],"additionalProperties":false}`),
				Result: json.RawMessage(`{"type":"object","properties":{"rows":{"type":"integer"}},"required":["rows"],"additionalProperties":false}`),
			},
		}
		for i := range got {
			got[i].At = got[i].At.Truncate(time.Minute)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("handlers (-want +got):\n%s", diff)
		}
		if h, err := w.conn.Instances().Handler(t.Context(), "g", "report"); err != nil || h.Description != "Writes a report" {
			t.Errorf("%+v, %v", h, err)
		}
		if _, err := w.conn.Instances().Handler(t.Context(), "g", "other"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("an unknown handler: %v", err)
		}
	})
}

func TestAnAnnouncementIsRepeatedUntilItIsStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		if err := w.conn.JS.DeleteKeyValue(t.Context(), bus.BucketHandler); err != nil { // as in a cluster that has not been updated
			t.Fatal(err)
		}
		w.start("a", executor.Config{}, handler(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
		time.Sleep(time.Minute)
		if err := w.conn.Setup(t.Context(), w.assets); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * fleet.HeartbeatEvery)
		if h, err := w.conn.Instances().Handler(t.Context(), "g", "h"); err != nil || h.Instance != "a" {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

func TestASchemaThatIsNoneIsRefused(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		for _, wrong := range []string{`{"type": 5}`, `{"$ref": "#/nowhere"}`, `[`} {
			e, err := executor.New(w.connect("x").Conn, executor.Config{Group: "g", Schemas: schema.JSON{}})
			if err != nil {
				t.Fatal(err)
			}
			nop := executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil })
			e.Handle("h", nop, executor.ParamsSchema(json.RawMessage(wrong)))
			if err := e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "schema of its parameters that cannot be used") {
				t.Errorf("%s: %v", wrong, err)
			}
		}
	})
}
