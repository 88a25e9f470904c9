package stream

import (
	"bufio"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// stillAllowed is how often a stream looks whether its reader's session or token has ended by
// the clock. Of changes it hears at once.
const stillAllowed = 5 * time.Second

// Events returns the handler of GET /events. Streams get "bye" and end when ctx
// is done.
func (s *Server) Events(ctx context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		wanted := topics
		if query := c.Context().QueryArgs().PeekMulti("topic"); len(query) > 0 {
			wanted = nil
			for _, q := range query {
				wanted = append(wanted, topic(q)) // the contract knows them
			}
		}
		lastID, reader := c.Get("Last-Event-ID"), access.NewLasting(c.UserContext(), s.users)
		// c must not be touched once the handler has returned: see Tail.
		conn := c.Context().Conn()
		c.Set(fiber.HeaderContentType, "text/event-stream")
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set("X-Accel-Buffering", "no")
		if c.Method() == fiber.MethodHead {
			return nil
		}
		if err := s.open.add(conn, access.Who(c.UserContext())); err != nil {
			return err
		}
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			defer s.open.remove(conn)
			r := s.news.subscribe(wanted, lastID)
			defer s.news.unsubscribe(r)
			if err := s.tellEvents(ctx, r, reader, events{w, conn}); err != nil {
				s.log.DebugContext(ctx, "events interrupted", "error", err)
			}
		})
		return nil
	}
}

// tellEvents sends r's news until ctx is done, the client is gone, or may not read any more.
func (s *Server) tellEvents(ctx context.Context, r *reader, theirs *access.Lasting, out events) error {
	if err := out.comment(); err != nil { // so that the client sees the stream open
		return err
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	check := time.NewTicker(stillAllowed)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return out.send("bye", "", struct{}{})
		case <-r.waked:
			now, err := theirs.Now(ctx)
			if err != nil || !now.Access.MaySomewhere(rights.Viewer) {
				return out.send("bye", "", struct{}{})
			}
			if err := s.tell(r, now.Access, out); err != nil {
				return err
			}
		case <-theirs.Changed():
			if now, err := theirs.Now(ctx); err != nil || !now.Access.MaySomewhere(rights.Viewer) {
				return out.send("bye", "", struct{}{})
			}
		case <-check.C:
			if _, err := theirs.Check(ctx); err != nil {
				return out.send("bye", "", struct{}{})
			}
		case <-beat.C:
			if err := out.comment(); err != nil {
				return err
			}
		}
	}
}

// tell sends what r has not read, as far as it may be seen.
func (s *Server) tell(r *reader, theirs rights.List, out events) error {
	unread, id, reload := s.news.rest(r)
	if reload {
		if err := out.send("reload", id, struct{}{}); err != nil {
			return err
		}
	}
	for _, t := range topics {
		c := unread[t]
		if c == nil {
			continue
		}
		seen := func(group string) bool { return theirs.May(rights.Viewer, group) }
		told := api.Changed{Names: []string{}}
		for _, name := range slices.Sorted(maps.Keys(c.names)) {
			if group, _, _ := strings.Cut(name, "/"); seen(group) {
				told.Names = append(told.Names, name)
			}
		}
		for group := range c.groups {
			told.More = told.More || group == "" || seen(group)
		}
		if len(told.Names) == 0 && !told.More {
			continue
		}
		if err := out.send(string(t), id, told); err != nil {
			return err
		}
	}
	return nil
}
