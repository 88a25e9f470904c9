package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"time"

	"github.com/carillon-scheduler/carillon/client"
)

// request is the body of a request for a run.
type request struct {
	Params  json.RawMessage
	Labels  map[string]string
	At      time.Time
	In      string
	Expires string
	Key     string
	Reset   bool
	RunID   string `json:"run_id"`
}

// run keeps a wish, unless a run has its key.
func (m *Memory) run(job string, sent *request) (int, any) {
	if w := m.keyed(job, sent.Key); w != nil {
		as := m.states[w.RunID]
		switch differ := w.differs(sent); {
		case sent.Reset && as.status.Ended():
		case sent.Reset:
			return http.StatusConflict, keyInUse(w, fmt.Sprintf("run %s, which has this key, has not ended", w.RunID), "")
		case differ != "":
			return http.StatusConflict, keyInUse(w, fmt.Sprintf("run %s has this key, with other %s", w.RunID, differ), differ)
		default:
			return http.StatusOK, map[string]any{"run_id": w.RunID, "job": job, "version": 1, "status": as.status, "existed": true}
		}
	}
	in, _ := time.ParseDuration(sent.In) // the client wrote it
	m.wishes = append(m.wishes, Wish{RunID: sent.RunID, Job: job, Params: sent.Params, Labels: sent.Labels, At: sent.At, In: in, Expires: sent.Expires, Key: sent.Key})
	as, chosen := m.ended[job]
	if !chosen {
		as.status = client.Succeeded
	}
	if in != 0 || !sent.At.IsZero() {
		as = end{status: client.Queued}
	}
	m.states[sent.RunID] = as
	accepted := map[string]any{"run_id": sent.RunID, "job": job, "version": 1, "status": client.Pending}
	if as.status == client.Queued {
		accepted["status"], accepted["due"] = client.Queued, due(&m.wishes[len(m.wishes)-1])
	}
	return http.StatusAccepted, accepted
}

// runMany answers for each run of a batch.
func (m *Memory) runMany(body io.Reader) (any, error) {
	var sent struct {
		Runs []struct {
			Job string
			Run request
		}
	}
	if err := json.NewDecoder(body).Decode(&sent); err != nil {
		return nil, fmt.Errorf("decode the requests: %w", err)
	}
	items := []any{}
	for i := range sent.Runs {
		status, answer := m.run(sent.Runs[i].Job, &sent.Runs[i].Run)
		item := "accepted"
		if p, ok := answer.(map[string]any); ok && status >= http.StatusBadRequest {
			item, p["status"] = "problem", status
		}
		items = append(items, map[string]any{item: answer})
	}
	return map[string]any{"items": items}, nil
}

// keyed returns the latest run of a job with a key; nil if there is none.
func (m *Memory) keyed(job, key string) *Wish {
	for i := len(m.wishes) - 1; i >= 0 && key != ""; i-- {
		if w := &m.wishes[i]; w.Job == job && w.Key == key {
			return w
		}
	}
	return nil
}

// cancelKeyed cancels the run of a job that has a key.
func (m *Memory) cancelKeyed(job string, body io.Reader) (int, any, error) {
	var sent struct{ Key string }
	if err := json.NewDecoder(body).Decode(&sent); err != nil {
		return 0, nil, fmt.Errorf("decode the key: %w", err)
	}
	w := m.keyed(job, sent.Key)
	if w == nil {
		return http.StatusNotFound, problem("not_found", "no run of job "+job+" has this key"), nil
	}
	status, answer := m.cancel(w.RunID)
	return status, answer, nil
}

// differs lists the fields that a request with the same key has otherwise, with commas.
func (w *Wish) differs(sent *request) string {
	var mine, others any
	_, _ = json.Unmarshal(w.Params, &mine), json.Unmarshal(sent.Params, &others) // nil if there are none
	params, labels := !reflect.DeepEqual(mine, others), !maps.Equal(w.Labels, sent.Labels)
	switch {
	case params && labels:
		return "params, labels"
	case params:
		return "params"
	case labels:
		return "labels"
	}
	return ""
}

func keyInUse(w *Wish, detail, fields string) map[string]any {
	p := problem("key_in_use", detail)
	p["run_id"] = w.RunID
	p["reason"] = map[string]any{"text": detail, "params": map[string]any{"fields": fields}}
	return p
}
