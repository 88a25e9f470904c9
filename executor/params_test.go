package executor_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/executortest"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
)

type sharedItem struct {
	SKU   string `json:"sku"`
	Count *int   `json:"count,omitempty"`
}

type sharedOrder struct {
	Customer string       `json:"customer" validate:"min=1,max=8"`
	Rows     int          `json:"rows" validate:"min=1,max=9"`
	ID       *int64       `json:"id,omitempty"`
	Rate     *float64     `json:"rate,omitempty" validate:"omitempty,gt=0"`
	Size     *string      `json:"size,omitempty" validate:"omitempty,oneof=s l"`
	Items    []sharedItem `json:"items,omitzero"`
}

func TestParametersAreReadAsByAllSDKs(t *testing.T) {
	data, err := os.ReadFile("schema/testdata/params.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct{ Name, Params, Value, Refused string }
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("%d cases: %v", len(file.Cases), err)
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var run executortest.Run
			if c.Params != "" {
				run.Params = json.RawMessage(c.Params)
			}
			var got *sharedOrder
			end := executortest.Do(t, "order", run, func(e *executor.Executor) {
				executor.Register(e, "order", func(_ context.Context, _ *executor.Run, p sharedOrder) (any, error) {
					got = &p
					return nil, nil
				})
			}, func(cfg *executor.Config) { cfg.Schemas = schema.JSON{} })
			if c.Value == "" {
				if got != nil || end.Status != job.StatusFailed || !strings.Contains(end.Message, c.Refused) {
					t.Errorf("%s (%s), the handler got %+v", end.Status, end.Message, got)
				}
				return
			}
			if got == nil {
				t.Fatalf("%s: %s", end.Status, end.Message)
			}
			read, err := json.Marshal(got)
			if err != nil || !exact.Same(read, []byte(c.Value)) {
				t.Errorf("the handler got %s, want %s", read, c.Value)
			}
		})
	}
}
