package bus

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/job"
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
	// Instance and Version say which program has announced it last.
	Instance string    `json:"instance"`
	Version  string    `json:"version,omitempty"`
	At       time.Time `json:"at"`
}

// Subject returns where the handler is announced. Its name may have any characters.
func (h *Handler) Subject() string {
	return "$KV." + BucketHandler + "." + h.Group + "." + base64.RawURLEncoding.EncodeToString([]byte(h.Handler))
}

// Handler returns what is known of a handler. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (c *Conn) Handler(ctx context.Context, group, name string) (*Handler, error) {
	h := &Handler{Group: group, Handler: name}
	m, err := c.Last(ctx, "KV_"+BucketHandler, h.Subject())
	if errors.Is(err, ErrNoMessage) {
		return nil, fmt.Errorf("%w: handler %s of group %s", job.ErrNotFound, name, group)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m.Data, h); err != nil {
		return nil, &job.InvalidError{Field: "handler", Reason: fmt.Sprintf("%s of group %s is damaged: %v", name, group, err)}
	}
	return h, nil
}

// Handlers returns the handlers of a group that have been announced lately, by name.
func (c *Conn) Handlers(ctx context.Context, group string) ([]Handler, error) {
	all, err := collect[Handler](ctx, c, BucketHandler, group)
	all = slices.DeleteFunc(all, func(h Handler) bool { return h.Group != group || h.Handler == "" })
	slices.SortFunc(all, func(a, b Handler) int { return strings.Compare(a.Handler, b.Handler) })
	return all, err
}
