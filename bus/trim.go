package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// KeyAlertPosition is the key in ALERT of how far the alerter has come.
const KeyAlertPosition = "position"

// EventsAlerted returns up to which sequence of EVT the alerter has looked at events. If no
// alerter has looked at any yet, none counts: that is the greatest number. The error is
// job.ErrUnavailable.
func (c *Conn) EventsAlerted(ctx context.Context) (upTo uint64, err error) {
	kv, err := c.kv(ctx, BucketAlert)
	if err != nil {
		return 0, err
	}
	e, err := kv.Get(ctx, KeyAlertPosition)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return math.MaxUint64, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the position of the alerter: %w", Unavailable(err))
	}
	var at struct {
		Events uint64 `json:"events"`
	}
	if err := json.Unmarshal(e.Value(), &at); err != nil {
		return 0, fmt.Errorf("%w: the position of the alerter is damaged: %w", job.ErrInvalid, err)
	}
	return at.Events, nil
}

// PurgeEvents removes from EVT the messages up to a sequence, those on subjects that match
// filter only, unless that is empty. The error is job.ErrUnavailable.
func (c *Conn) PurgeEvents(ctx context.Context, filter string, upTo uint64) error {
	s, err := c.JS.Stream(ctx, StreamEvt)
	if err != nil {
		return fmt.Errorf("look up stream %s: %w", StreamEvt, Unavailable(err))
	}
	options := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSequence(upTo + 1)}
	if filter != "" {
		options = append(options, jetstream.WithPurgeSubject(filter))
	}
	if err := s.Purge(ctx, options...); err != nil {
		return fmt.Errorf("trim stream %s: %w", StreamEvt, Unavailable(err))
	}
	return nil
}
