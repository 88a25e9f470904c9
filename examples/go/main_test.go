package main

import (
	"testing"

	"github.com/carillon-scheduler/carillon/executor/executortest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestReport(t *testing.T) {
	got, end := executortest.Call(t, report, params{Region: "north", Rows: 3}, executortest.Run{})
	if end.Status != job.StatusSucceeded || got.Written != 3 || !end.Logged("region=north") {
		t.Errorf("%s: %+v, log %q", end.Status, got, end.Log())
	}
	if _, end := executortest.Call(t, report, params{}, executortest.Run{}); !end.Final || end.Message != "params.region is missing" {
		t.Errorf("%s: %s", end.Status, end.Message)
	}
}
