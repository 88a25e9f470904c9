package bus

import (
	"encoding/base64"
	"encoding/json"
	"strings"
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

// Subject returns where the handler is announced.
func (h *Handler) Subject() string {
	return "$KV." + BucketHandler + "." + HandlerKey(h.Group, h.Handler)
}

// HandlerKey returns the key of a handler in [BucketHandler]. Its name may have any characters.
func HandlerKey(group, name string) string {
	return group + "." + base64.RawURLEncoding.EncodeToString([]byte(name))
}

// HandlerOfKey returns the handler that has a key; the name is "" if it is damaged.
func HandlerOfKey(key string) (group, name string) {
	group, encoded, _ := strings.Cut(key, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return group, ""
	}
	return group, string(decoded)
}
