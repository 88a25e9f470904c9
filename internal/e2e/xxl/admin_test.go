//go:build unix

package xxl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// recorder is an admin that keeps what executors send and thanks for all of it.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex // guards seen
	seen []message
}

// message is what an executor has sent.
type message struct {
	path   string
	header http.Header
	body   []byte
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP is http.Handler's.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.seen = append(r.seen, message{path: strings.TrimPrefix(req.URL.Path, "/xxl-job-admin"), header: req.Header, body: body})
	r.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"code":200,"msg":null,"content":null,"data":null,"success":true}`) // the executor asks again
}

// await waits for a message that fits, and returns it.
func (r *recorder) await(t *testing.T, path string, fits func(message) bool) message {
	t.Helper()
	var found message
	processtest.Await(t, processtest.Patience, "wait for "+path, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range r.seen {
			if m.path == path && fits(m) {
				found = m
				return nil
			}
		}
		return errors.New("nothing yet")
	})
	return found
}

// callback waits for that of a run.
func (r *recorder) callback(t *testing.T, id int64) message {
	t.Helper()
	return r.await(t, "/api/callback", func(m message) bool {
		var list []struct {
			LogID int64 `json:"logId"`
		}
		if json.Unmarshal(m.body, &list) != nil {
			var object struct {
				List json.RawMessage `json:"callbackList"`
			}
			if err := errors.Join(json.Unmarshal(m.body, &object), json.Unmarshal(object.List, &list)); err != nil {
				t.Fatalf("%v: %s", err, m.body)
			}
		}
		for _, c := range list {
			if c.LogID == id {
				return true
			}
		}
		return false
	})
}

// any fits every message.
func anyMessage(message) bool { return true }

func (m message) String() string { return fmt.Sprintf("%s %s", m.path, m.body) }
