package webapi

import "context"

// warmUp has what lists of jobs are made of be at hand before somebody asks for one: how
// jobs stand, and how their week was. With ten thousand jobs either takes a large part of a
// second at first, and more if all that has ended since the reports were last asked for is to
// be counted before. What cannot be read now is read by who needs it.
func (h *handlers) warmUp(ctx context.Context) {
	stats, err := h.store.Stats(ctx)
	if err == nil && stats.OldestRun.IsZero() {
		return // nothing has run yet
	}
	if err == nil {
		err = h.index.wait(ctx)
	}
	if err == nil {
		_, err = h.store.Standings(ctx, h.index.names())
	}
	if err == nil {
		_, err = h.week.wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		h.log.WarnContext(ctx, "lists of jobs are not prepared", "error", err)
	}
}
