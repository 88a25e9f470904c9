package webapi

import (
	"net/http"
	"testing"
	"time"

	"carillon/bus"
	"carillon/job"
)

func TestTheHistoryTellsHowFarItHasCome(t *testing.T) {
	w := newWorld(t)
	w.history(begun("billing/x", noon))
	before := time.Now().UTC()
	state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	if state.AsOf.Before(before.Truncate(time.Millisecond)) || !state.StoreAnswers || state.Bytes <= 0 || !state.OldestRun.Equal(noon) || len(state.Backlog) != 6 || state.DiskBytes <= state.DiskFreeBytes || state.DiskFreeBytes <= 0 {
		t.Errorf("with nothing to do the state is %+v", state)
	}
	// Nobody ingests here, so what is published waits.
	l := &bus.Log{RunID: job.NewRunID(noon), Job: "billing/x", Attempt: 1, Instance: "w", Lines: []bus.LogLine{{Seq: 1, At: noon, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "x"}}}
	m, err := l.Msg()
	w.check(err)
	ack, err := w.conn.JS.PublishMsg(t.Context(), m)
	w.check(err)
	stored := time.Now().UTC()
	for range 2 {
		state, _ = want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	}
	if b := state.Backlog[2]; b.Stream != ack.Stream || b.Messages != 1 || b.Since.Before(before.Add(-time.Second)) || b.Since.After(stored) || !state.AsOf.Equal(b.Since) {
		t.Errorf("with a message that waits since %s the state is %+v", stored, state)
	}
}

func TestTheHistoryTellsThatTheStoreIsAway(t *testing.T) {
	w := newWorld(t)
	w.check(w.store.Close())
	state, _ := want[HistoryState](w, http.StatusOK, "GET", "/api/v1/history", nil)
	if state.StoreAnswers || state.Bytes != 0 || state.AsOf.IsZero() {
		t.Errorf("the state is %+v", state)
	}
}
