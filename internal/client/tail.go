package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// silence is how long a stream may say nothing: the server comments every 15 s.
	silence = 45 * time.Second
	// maxEvent bounds one event, in bytes.
	maxEvent = 16 << 20

	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// TailOptions says which log to follow, and from where.
type TailOptions struct {
	// Attempt is the only one to follow. Defaults to the newest and those after it, to
	// the end of the run.
	Attempt int
	// Index is the broadcast index of the piece to follow. Defaults to the run as a whole.
	Index *int
	// After is the last line that the caller has, of AfterAttempt; 0 for none.
	After        int64
	AfterAttempt int
	// Job helps the server with a run so new that the history does not have it yet.
	Job job.Name
	// Interrupted, if set, is told why a connection was lost before another is made.
	Interrupted func(error)
}

// Tail follows the log of a run until its end, or that of one attempt or piece. It calls yield with the lines as they
// come, each once and in order, in this goroutine; an error of yield ends it. Lost
// connections are made again for as long as ctx lives: the error is ctx's, yield's, or
// what the server says against the request.
func (a *API) Tail(ctx context.Context, id job.RunID, o TailOptions, yield func([]LogLine) error) (LogEnd, error) {
	t := tail{api: a, run: id, job: o.Job, attempt: o.Attempt, index: o.Index, yield: yield}
	if o.After > 0 {
		t.lastAttempt, t.lastSeq = o.AfterAttempt, o.After
	}
	delay := firstRetry
	for {
		before := t.lastSeq
		end, err := t.connect(ctx)
		switch {
		case err == nil:
			return *end, nil
		case ctx.Err() != nil:
			return LogEnd{}, ctx.Err()
		case !errors.Is(err, job.ErrUnavailable):
			return LogEnd{}, err
		}
		if o.Interrupted != nil {
			o.Interrupted(err)
		}
		if t.lastSeq != before {
			delay = firstRetry
		}
		if err := pause.For(ctx, delay); err != nil {
			return LogEnd{}, err
		}
		delay = min(delay*2, lastRetry)
	}
}

// tail is the state that outlives a connection.
type tail struct {
	api         *API
	run         job.RunID
	job         job.Name
	attempt     int
	index       *int
	yield       func([]LogLine) error
	lastAttempt int
	lastSeq     int64
}

// connect reads one stream. It returns the end if that came, else an error, which is
// a [job.ErrUnavailable] when another connection may go on.
func (t *tail) connect(ctx context.Context) (*LogEnd, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()

	resp, err := t.open(ctx)
	if err != nil {
		return nil, t.lost(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusBadRequest {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return nil, t.lost(err)
		}
		return nil, problemOf(resp, body)
	}
	events := eventReader{lines: bufio.NewReader(resp.Body), progress: func() { watchdog.Reset(silence) }}
	for {
		e, err := events.next()
		if err != nil {
			return nil, t.lost(err)
		}
		switch e.name {
		case "lines":
			if err := t.take(e.data); err != nil {
				return nil, err
			}
		case "end":
			var end LogEnd
			if err := json.Unmarshal(e.data, &end); err != nil {
				return nil, fmt.Errorf("read the end of the log: %w", err)
			}
			return &end, nil
		case "bye":
			return nil, t.lost(errors.New("the server stops"))
		}
	}
}

func (t *tail) open(ctx context.Context) (*http.Response, error) {
	query := url.Values{}
	if t.attempt > 0 {
		query.Set("attempt", strconv.Itoa(t.attempt))
	}
	if t.index != nil {
		query.Set("broadcast_index", strconv.Itoa(*t.index))
	}
	if t.job != "" {
		query.Set("job", string(t.job))
	}
	u := t.api.address + "/api/v1/runs/" + url.PathEscape(string(t.run)) + "/logs/tail?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if t.lastSeq > 0 {
		req.Header.Set("Last-Event-ID", fmt.Sprintf("%d:%d", t.lastAttempt, t.lastSeq))
	}
	if err := t.api.sign(ctx, req); err != nil {
		return nil, err
	}
	return t.api.stream.Do(req)
}

// lost marks an error as one of the connection.
func (t *tail) lost(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	switch {
	case errors.Is(err, errTooLong):
		return err
	case errors.Is(err, context.Canceled): // not the caller's: Tail looks at that first
		err = fmt.Errorf("nothing was heard for %s", silence)
	case errors.Is(err, io.EOF):
		err = errors.New("the connection was closed")
	}
	return &UnreachableError{Address: t.api.address, Err: err}
}

// take hands on the lines of one event, but for those that came before.
func (t *tail) take(data []byte) error {
	var lines []LogLine
	if err := json.Unmarshal(data, &lines); err != nil {
		return fmt.Errorf("read lines of the log: %w", err)
	}
	fresh := lines[:0]
	for _, l := range lines {
		if l.Attempt == t.lastAttempt && l.Seq <= t.lastSeq {
			continue
		}
		t.lastAttempt, t.lastSeq = l.Attempt, l.Seq
		fresh = append(fresh, l)
	}
	if len(fresh) == 0 {
		return nil
	}
	return t.yield(fresh)
}

// event is one server-sent event.
type event struct {
	id   string
	name string
	data []byte
}

var errTooLong = errors.New("read the log: an event is too long")

// eventReader reads server-sent events, and passes over comments.
type eventReader struct {
	lines    *bufio.Reader
	progress func() // called at each line, comments included
}

func (r *eventReader) next() (event, error) {
	var e event
	for {
		line, err := r.line()
		if err != nil {
			return e, err
		}
		if line == "" {
			if e.name != "" || e.data != nil {
				return e, nil
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			if len(e.data) > maxEvent {
				return e, errTooLong
			}
		}
	}
}

// line returns the next line without its end.
func (r *eventReader) line() (string, error) {
	var b strings.Builder
	for {
		part, err := r.lines.ReadSlice('\n')
		b.Write(part)
		switch {
		case err == nil:
			r.progress()
			return strings.TrimRight(b.String(), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case b.Len() > maxEvent:
			return "", errTooLong
		}
	}
}
