package bus

import "time"

// Secret is a secret of a group, sealed: see package bus/seal.
type Secret struct {
	Group       string    `json:"executor_group"`
	Secret      string    `json:"secret"` // its name
	Description string    `json:"description,omitempty"`
	UpdatedAt   time.Time `json:"updated_at"`
	Author      string    `json:"author,omitempty"`
	KeyID       string    `json:"key_id"` // of the group's key with which it is sealed
	Sealed      []byte    `json:"sealed"`
}
