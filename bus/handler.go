package bus

import (
	"encoding/base64"
	"encoding/json"
	"time"
)

const (
	// HandlerTTL is how long what was announced of a handler is remembered.
	HandlerTTL = 30 * 24 * time.Hour
	// AnnounceEvery is how often executors announce their handlers again.
	AnnounceEvery = 24 * time.Hour
)

// Handler is what the executors of a group say of one of their handlers: what it does
// and what parameters it takes. Heartbeats, which are many, have no more than its name.
type Handler struct {
	Group       string `json:"executor_group"`
	Handler     string `json:"handler"`
	Description string `json:"description,omitempty"`
	// Params is a JSON schema; absent when nothing is known of the parameters.
	Params json.RawMessage `json:"params_schema,omitempty"`
	// Result is a JSON schema; absent when nothing is known of the result.
	Result json.RawMessage `json:"result_schema,omitempty"`
	// Instance and Version say which program has announced it last.
	Instance string    `json:"instance"`
	Version  string    `json:"version,omitempty"`
	At       time.Time `json:"at"`
}

// Subject returns where the handler is announced. Its name may have any characters.
func (h *Handler) Subject() string {
	return "$KV." + BucketHandler + "." + h.Group + "." + base64.RawURLEncoding.EncodeToString([]byte(h.Handler))
}
