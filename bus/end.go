package bus

import (
	"context"
	"fmt"
	"time"

	"carillon/job"
)

// Orphaned is the message of a run that is ended as lost because its trigger has gone.
const Orphaned = "its trigger has left the stream, and no end of it was reported"

// EndRun stores the end of an attempt, or of a piece of one, that no executor will report:
// nobody has it any more, or nobody is to have it. If an end is stored already, that one
// stands. The error is job.ErrUnavailable.
func (c *Conn) EndRun(ctx context.Context, t *Trigger, status job.Status, message string) error {
	event := EventOf(t, EventFinished, time.Now())
	event.Status, event.FinishedAt, event.Message = status, event.At, message
	m, err := c.ServerEvent(event)
	if err != nil {
		return err
	}
	if _, err := c.JS.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("record the end of run %s: %w", t.RunID, Unavailable(err))
	}
	return nil
}
