package stream

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

const (
	// shownLines is how many lines a second a watch shows; the rate tells how many there
	// were. shownEvery is how often they are sent.
	shownLines = 500
	shownEvery = 100 * time.Millisecond
	// shownText is how much of a line is sent, in bytes: the run has all of it.
	shownText = 4 << 10
	// watchQueue is how many messages wait for a watch that is slower than the logs.
	watchQueue = 4096
)

// watch follows what all runs print, as far as it matches, for one client. Nothing of it
// is kept: what it does not show is in the history.
type watch struct {
	*Server
	filter logstore.SearchFilter
	terms  logstore.Terms
	reader *access.Lasting
	who    *auth.Identity // the reader, by what is known so far
	heard  chan *nats.Msg
	subs   subscriptions
	out    events
	drafts map[job.RunID]bool // the tests of drafts that are known
	steps  map[job.RunID]step // the steps of workflows that are known, by their runs

	waiting []runlog.Hit // the newest that match, and are to be shown
	room    int          // for how many lines there is, as of the rate
	rate    api.LogRate  // since the last was sent
	idle    bool         // the last that was sent had nothing in it
}

// Watch returns the handler of GET /logs/tail. Streams get "bye" and end when ctx is
// done.
func (s *Server) Watch(ctx context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		w := &watch{Server: s, reader: access.NewLasting(c.UserContext(), s.users), who: access.Who(c.UserContext()), heard: make(chan *nats.Msg, watchQueue), room: shownLines, drafts: map[job.RunID]bool{}, steps: map[job.RunID]step{}}
		w.filter = logstore.SearchFilter{Text: c.Query("text"), Levels: many(c, "level"), Jobs: runs.Names(many(c, "job")), Group: c.Query("group")}
		if err := w.filter.Validate(); err != nil {
			return err
		}
		w.terms = logstore.ParseTerms(w.filter.Text)
		// c must not be touched once the handler has returned: see Tail.
		conn := c.Context().Conn()
		c.Set(fiber.HeaderContentType, "text/event-stream")
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set("X-Accel-Buffering", "no")
		if c.Method() == fiber.MethodHead {
			return nil
		}
		if err := w.subscribe(); err != nil {
			return err
		}
		if err := s.open.add(conn, w.who); err != nil {
			w.subs.stop()
			return err
		}
		w.findDrafts(c.UserContext())
		w.findSteps(c.UserContext())
		c.Context().SetBodyStreamWriter(func(b *bufio.Writer) {
			defer s.open.remove(conn)
			defer w.subs.stop()
			w.out = events{b, conn}
			if err := w.follow(ctx); err != nil {
				s.log.DebugContext(ctx, "watch interrupted", "error", err)
			}
		})
		return nil
	}
}

// many returns the values of a parameter that may be given more than once.
func many(c *fiber.Ctx, name string) (values []string) {
	for _, v := range c.Context().QueryArgs().PeekMulti(name) {
		values = append(values, string(v))
	}
	return values
}

// subscribe subscribes to the logs of the groups that are wanted and that the reader
// may see.
func (w *watch) subscribe() error {
	for _, subject := range w.subjects() {
		sub, err := w.conn.NC.ChanSubscribe(subject, w.heard)
		if err != nil {
			w.subs.stop()
			return problem.Explain(job.ErrUnavailable, "NATS does not answer")
		}
		w.subs = append(w.subs, sub)
	}
	return nil
}

// subjects returns where there is anything to hear: all of it is looked at again when it
// comes, as rights may end.
func (w *watch) subjects() []string {
	groups, everywhere := w.who.Access.Seen(rights.Logs)
	if everywhere || slices.ContainsFunc(groups, func(g string) bool { return strings.HasSuffix(g, "*") }) {
		groups = []string{"*"} // subjects have no pattern for the beginning of a name
	}
	wanted := make([]string, 0, len(w.filter.Jobs)+1)
	for _, name := range w.filter.Jobs {
		wanted = append(wanted, name.Group())
	}
	if w.filter.Group != "" {
		wanted = append(wanted, w.filter.Group)
	}
	if len(wanted) > 0 {
		slices.Sort(wanted)
		groups = slices.DeleteFunc(slices.Compact(wanted), func(g string) bool { return !w.who.Access.Sees(rights.Logs, g) })
	}
	if len(groups) == 0 {
		return nil
	}
	subjects := []string{bus.SubjectRecords}
	for _, g := range groups {
		subjects = append(subjects, bus.SubjectEvents(g), bus.SubjectLog(g, "*"))
	}
	return subjects
}

// follow sends lines until ctx is done, the client is gone, or may not read any more.
func (w *watch) follow(ctx context.Context) error {
	if err := w.out.comment(); err != nil { // so that the client sees the stream open
		return err
	}
	show := time.NewTicker(shownEvery)
	defer show.Stop()
	tell := time.NewTicker(time.Second)
	defer tell.Stop()
	check := time.NewTicker(stillAllowed)
	defer check.Stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.out.send("bye", "", struct{}{})
		case m := <-w.heard:
			w.take(m)
		case <-show.C:
			if !w.allowed(ctx) {
				return w.out.send("bye", "", struct{}{})
			}
			if err := w.show(); err != nil {
				return err
			}
		case <-tell.C:
			if err := w.tell(); err != nil {
				return err
			}
		case <-w.reader.Changed():
			if !w.allowed(ctx) {
				return w.out.send("bye", "", struct{}{})
			}
		case <-check.C:
			if _, err := w.reader.Check(ctx); err != nil {
				return w.out.send("bye", "", struct{}{})
			}
		case <-beat.C:
			if err := w.out.comment(); err != nil {
				return err
			}
		}
	}
}

// allowed reports whether the reader may still see anything. It drops the lines that the
// reader may see no more.
func (w *watch) allowed(ctx context.Context) bool {
	now, err := w.reader.Now(ctx)
	if err != nil || !now.Access.MaySomewhere(rights.Viewer) {
		return false
	}
	if now != w.who {
		w.who = now
		w.waiting = slices.DeleteFunc(w.waiting, func(h runlog.Hit) bool { return !w.wants(h.Job) })
	}
	return true
}

// take looks at the lines of a message. What cannot be read is of somebody else's making;
// ingest counts it.
func (w *watch) take(m *nats.Msg) {
	if _, isEvent := bus.GroupOfEvents(m.Subject); isEvent {
		w.takeEvent(m)
		return
	}
	if strings.HasPrefix(m.Subject, strings.TrimSuffix(bus.SubjectRecords, "*")) {
		w.takeRecord(m)
		return
	}
	l, err := w.conn.Events().DecodeLog(m.Subject, m.Header, m.Data)
	if err != nil || w.drafts[l.RunID] || !w.wants(l.Job) {
		return
	}
	for _, line := range linesOf(l) {
		if len(w.filter.Levels) > 0 && !slices.Contains(w.filter.Levels, line.Level) || !w.terms.Match(line.Text) {
			continue
		}
		w.rate.Lines++
		if len(line.Text) > shownText {
			line.Text = strings.ToValidUTF8(line.Text[:shownText], "")
		}
		of := w.steps[l.RunID]
		w.waiting = append(w.waiting, runlog.Hit{Line: line, Step: of.name, Workflow: of.workflow})
	}
	if over := len(w.waiting) - shownLines; over > 0 { // there is never room for more
		w.waiting = slices.Delete(w.waiting, 0, over)
	}
}

// wants reports whether lines of a job are asked for, and may be seen.
func (w *watch) wants(name job.Name) bool {
	return (len(w.filter.Jobs) == 0 || slices.Contains(w.filter.Jobs, name)) && (w.filter.Group == "" || w.filter.Group == name.Group()) &&
		w.who.Access.May(rights.Viewer, name.Group()) && w.who.Access.Sees(rights.Logs, name.Group())
}

// show sends the newest of the lines that wait, as many as there is room for. The others
// are only counted.
func (w *watch) show() error {
	lines := w.waiting[max(0, len(w.waiting)-w.room):]
	if len(lines) == 0 {
		return nil
	}
	w.room -= len(lines)
	w.rate.Shown += len(lines)
	err := w.out.send("lines", "", lines)
	w.waiting = w.waiting[:0]
	return err
}

// tell says how many lines there were since it did so last, unless there are none again,
// and makes room for others.
func (w *watch) tell() error {
	w.room = shownLines
	rate := w.rate
	rate.Dropped = w.subs.dropped() > 0
	w.rate = api.LogRate{}
	if idle := rate == (api.LogRate{}); idle && w.idle {
		return nil
	}
	w.idle = rate == api.LogRate{}
	return w.out.send("rate", "", rate)
}
