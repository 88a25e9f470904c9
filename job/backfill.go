package job

import "time"

// Backfill is a request to run fires of the past, and how far it has come.
type Backfill struct {
	ID      string    `json:"id"`
	AskedAt time.Time `json:"asked_at"`
	By      string    `json:"by,omitempty"`
	Note    string    `json:"note,omitempty"`
	AtOnce  int       `json:"at_once"`
	// First and Last are the fire times between which its fires are.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Total int       `json:"total"` // fires
	Begun int       `json:"begun"` // how many of them, from the first on, have their run
	// Alive is how many of the runs have not ended; it is known to the owner only.
	Alive int `json:"alive,omitempty"`
	// Cancelled says why there are no further runs. EndedAt is when the last one ended.
	Cancelled string    `json:"cancelled,omitempty"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Fires are the fire times in Unix milliseconds: all of them, where they are there.
	Fires []int64 `json:"fires,omitempty"`
}
