package main

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/executor/executortest"
	"github.com/carillon-scheduler/carillon/job"
)

func TestCron(t *testing.T) {
	if _, end := executortest.Call(t, cron, params{}, executortest.Run{}); end.Status != job.StatusSucceeded || !end.Logged("every hour") {
		t.Errorf("%s, log %q", end.Status, end.Log())
	}
}

func TestCancelling(t *testing.T) {
	if _, end := executortest.Call(t, cancelling, params{Problem: true}, executortest.Run{}); !end.Final {
		t.Errorf("%s may be tried again", end.Status)
	}
}

func TestSnoozing(t *testing.T) {
	if _, end := executortest.Call(t, snoozing, params{Problem: true}, executortest.Run{}); end.RetryAfter != 5*time.Minute {
		t.Errorf("%s is tried again after %s", end.Status, end.RetryAfter)
	}
}
