package trail

import (
	"time"

	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Result says what became of a change.
type Result string

// The results. A change that was refused has no entry.
const (
	Done    Result = "done"
	Unknown Result = "unknown" // it may have been made: the answer, or the server, was lost
)

// PatchJobs is the operation that changes many jobs with one entry: Changes has a field of each that got
// another version, which is its name, beside the fields that were changed.
const PatchJobs = "patchJobs"

// Entry is one change.
type Entry struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	User  string    `json:"user"`
	How   string    `json:"how"`             // session, token, local, or sign-in
	Token string    `json:"token,omitempty"` // its id
	// Assistant is the name of the assistant that acted for the user, as it calls itself; empty: none.
	Assistant string `json:"assistant,omitempty"`
	Address   string `json:"address,omitempty"`
	Operation string `json:"operation"` // of the API
	// Object is what was changed: its kind, a space and its name. Group is the executor
	// group that it belongs to, if it belongs to one.
	Object string `json:"object"`
	Group  string `json:"group,omitempty"`
	Result Result `json:"result"`
	// Note is what whoever made the change says of it, Detail what servers do.
	Note    string      `json:"note,omitempty"`
	Detail  reason.Text `json:"detail,omitempty"`
	Changes []Change    `json:"changes,omitempty"`

	// Seq is its place on the stream.
	Seq uint64 `json:"-"`
	// Same says that nothing was changed after all.
	Same bool `json:"-"`
}

// Change is one field of what was changed, before and after. Read from JSON, numbers are
// [json.Number], which keeps each digit.
type Change struct {
	Field string `json:"field"`
	From  any    `json:"from,omitempty"`
	To    any    `json:"to,omitempty"`
}

// UnmarshalJSON reads a change.
func (c *Change) UnmarshalJSON(data []byte) error {
	type plain Change
	return exact.Unmarshal(data, (*plain)(c))
}
