package standin

import (
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

// before answers in place of the executor, and reports whether it has.
func (m *Manner) before(w http.ResponseWriter, r *http.Request) bool {
	if m.Never {
		<-r.Context().Done()
		return true
	}
	if m.After > 0 {
		later := time.NewTimer(m.After)
		defer later.Stop()
		select {
		case <-later.C:
		case <-r.Context().Done():
			return true
		}
	}
	if m.Status == 0 && m.Body == "" {
		return false
	}
	if m.Status != 0 {
		w.WriteHeader(m.Status)
	}
	_, _ = io.WriteString(w, m.Body) // whoever asks sees that it is short
	return true
}
