package xxlstandin

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Manner is how an executor answers wrongly. Of an admin's request nothing is done, unless the field
// says otherwise.
type Manner struct {
	Status int           `json:"status,omitempty"` // instead of 200
	Body   string        `json:"body,omitempty"`   // what is answered: an array, HTML, anything
	After  time.Duration `json:"after,omitempty"`  // answers and does everything later by that
	Never  bool          `json:"never,omitempty"`  // keeps the connection and says nothing
	Mute   bool          `json:"mute,omitempty"`   // does everything and says nothing
}

// Behave changes how the executor answers; nil makes it well-behaved.
func (e *Executor) Behave(m *Manner) { e.manner.Store(m) }

// control serves what a test asks of an executor that is another process: POST /standin/behave with a
// Manner, and /standin/forget. It reports whether that was it.
func (e *Executor) control(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/standin/behave":
		var m Manner
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return true
		}
		e.Behave(&m)
	case "/standin/forget":
		e.Forget()
	default:
		return false
	}
	return true
}

// before answers in place of the executor, and reports whether it has.
func (m *Manner) before(w http.ResponseWriter, r *http.Request) bool {
	if m.Never {
		<-r.Context().Done()
		return true
	}
	hold(r, m.After)
	if m.Status == 0 && m.Body == "" {
		return false
	}
	if m.Status != 0 {
		w.WriteHeader(m.Status)
	}
	_, _ = io.WriteString(w, m.Body) // whoever asks sees that it is short
	return true
}

// hold waits, or until the caller is gone.
func hold(r *http.Request, d time.Duration) {
	later := time.NewTimer(d)
	defer later.Stop()
	select {
	case <-later.C:
	case <-r.Context().Done():
	}
}
