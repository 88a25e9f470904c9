package catalog

import "context"

// WarmUp has what lists of jobs are made of be at hand before somebody asks for one: how
// jobs stand, and how their week was. With ten thousand jobs either takes a large part of a
// second at first, and more if all that has ended since the reports were last asked for is to
// be counted before. What cannot be read now is read by who needs it.
func (c *Catalog) WarmUp(ctx context.Context) {
	stats, err := c.store.Stats(ctx)
	if err == nil && stats.OldestRun.IsZero() {
		return // nothing has run yet
	}
	if err == nil {
		err = c.index.wait(ctx)
	}
	if err == nil {
		_, err = c.store.Standings(ctx, c.index.names())
	}
	if err == nil {
		_, err = c.week.wait(ctx)
	}
	if err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "lists of jobs are not prepared", "error", err)
	}
}
