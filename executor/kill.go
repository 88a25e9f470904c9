package executor

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/job"
)

// decodeKill reads a request on [bus.SubjectKill].
func decodeKill(m *nats.Msg) (bus.KillRequest, error) {
	var req bus.KillRequest
	if err := json.Unmarshal(m.Data, &req); err != nil {
		return req, fmt.Errorf("decode kill request: %w", err)
	}
	_, err := job.ParseRunID(string(req.RunID))
	return req, err
}

// killedBy returns the cause with which a killed run's context is cancelled. Its
// text is the run's message.
func killedBy(req bus.KillRequest) error {
	by, why := "", ""
	if req.By != "" {
		by = " by " + req.By
	}
	if req.Reason != "" {
		why = ": " + req.Reason
	}
	return fmt.Errorf("%w%s%s", ErrCancelled, by, why)
}
