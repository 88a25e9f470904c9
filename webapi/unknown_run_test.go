package webapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestRequestsOfOneUserForUnknownRunsThatWaitForTheHistoryAreBounded(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	record := journal.Record{Shard: 0, At: noon, Outcomes: []journal.Outcome{{Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: noon, Jobs: []string{journal.JobVersion("billing/x", 1)}}}}
	m, err := record.Msg()
	w.check(err)
	stored, err := w.conn.JS.PublishMsg(t.Context(), m)
	w.check(err)

	unknown := w.url + "/api/v1/runs/" + string(job.NewRunID(time.Now()))
	var all errgroup.Group
	refused := make(chan string, 1)
	for range 60 {
		all.Go(func() error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, unknown, http.NoBody)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			text, err := io.ReadAll(resp.Body)
			if resp.StatusCode == http.StatusTooManyRequests {
				select {
				case refused <- string(text):
				default:
				}
			}
			return err
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- all.Wait() }()
	select {
	case text := <-refused:
		if !strings.Contains(text, "too_many_costly") || !strings.Contains(text, "send fewer at once") {
			t.Errorf("refused with %s", text)
		}
	case err := <-ended:
		t.Fatalf("60 requests waited at once: %v", err)
	}
	stream, err := w.conn.JS.Stream(t.Context(), w.conn.TrigOf(0))
	w.check(err)
	w.check(stream.DeleteMsg(t.Context(), stored.Sequence)) // the history has caught up
	w.check(<-ended)
	w.problem(404, "not_found", "GET", "/api/v1/runs/"+string(job.NewRunID(time.Now())), nil, "")
}
