package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	defaultSQLTime = 30 * time.Second
	maxSQLTime     = time.Minute
	defaultSQLRows = 10_000
	// sqlFlush is after how many rows what was written is sent.
	sqlFlush = 500
	// lookGone is how often it is looked whether the client has gone.
	lookGone = 250 * time.Millisecond
)

// SQL answers people's SQL from a log store that has some.
type SQL struct {
	asked logstore.Asked // nil if the store has none
	users *auth.Directory
	log   *slog.Logger
}

// NewSQL returns what answers SQL from a store.
func NewSQL(store logstore.Store, users *auth.Directory, log *slog.Logger) *SQL {
	asked, _ := store.(logstore.Asked)
	return &SQL{asked: asked, users: users, log: log}
}

// sqlRequest is the body of POST /sql, as the contract has it.
type sqlRequest struct {
	Query   string       `json:"query"`
	Format  string       `json:"format"`
	MaxRows int          `json:"max_rows"`
	Timeout job.Duration `json:"timeout"`
}

// Serve answers POST /sql as long as live is not done. A statement ends with its
// client, or when the rights of its client change. It holds its slot to the end.
func (s *SQL) Serve(live context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if s.asked == nil {
			return problem.Explain(job.ErrConflict, "the log store has no SQL; that needs ClickHouse, as --store")
		}
		var r sqlRequest
		if err := json.Unmarshal(c.Body(), &r); err != nil {
			return job.Invalid("body", "must be JSON: %s", err.Error())
		}
		if r.Timeout < 0 || time.Duration(r.Timeout) > maxSQLTime {
			return job.Invalid("timeout", "must be from 1ms to 60s")
		}
		conn := c.Context().Conn()
		ctx, cancel := context.WithTimeout(live, cmp.Or(time.Duration(r.Timeout), defaultSQLTime))
		who := access.Who(c.UserContext())
		go cancelWithClient(ctx, cancel, conn, access.NewLasting(c.UserContext(), s.users), who)
		answer, err := s.asked.Ask(ctx, r.Query, who.Access.May(rights.Admin, rights.Everywhere))
		if err != nil {
			cancel()
			return askedError(err)
		}
		out := sqlWriters[cmp.Or(r.Format, "json")]
		first, err := answer.Next() // what goes wrong before there is a row is an error
		if err != nil {
			cancel()
			return askedError(errors.Join(err, answer.Close()))
		}
		c.Set(fiber.HeaderContentType, out.kind)
		slot := access.TakeSlot(c.UserContext())
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			defer slot.Release()
			defer cancel()
			err := writeAnswer(out.begin(w), w, conn, answer, first, cmp.Or(r.MaxRows, defaultSQLRows))
			if err = errors.Join(err, answer.Close()); err != nil {
				s.log.DebugContext(ctx, "answer interrupted", "error", err)
				_ = conn.Close() // else a part would pass for the whole
			}
		})
		return nil
	}
}

// askedError is problem.StoreAway, but for a store that is not set up for SQL, which says how.
func askedError(err error) error {
	if errors.Is(err, job.ErrConflict) {
		return problem.Explain(err, problem.WithoutKind(err.Error(), job.ErrConflict))
	}
	return problem.StoreAway(err)
}

// cancelWithClient calls cancel when the client closes its connection or has other rights
// than it began with, or returns when ctx is done. Nothing else tells while there is nothing to write.
func cancelWithClient(ctx context.Context, cancel context.CancelFunc, conn net.Conn, caller *access.Lasting, began *auth.Identity) {
	tick := time.NewTicker(lookGone)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-caller.Changed():
			if !caller.Same(ctx, began) {
				cancel()
				return
			}
		case <-tick.C:
			if isGone(conn) {
				cancel()
				return
			}
		}
	}
}

// answerWriter writes an answer in a format.
type answerWriter interface {
	head(columns []logstore.AnswerColumn) error
	row(values []any) error
	end(truncated bool) error
}

// sqlWriters are the formats of answers.
var sqlWriters = map[string]struct {
	kind  string
	begin func(*bufio.Writer) answerWriter
}{
	"json":   {fiber.MIMEApplicationJSON, func(w *bufio.Writer) answerWriter { return &jsonAnswer{w: w} }},
	"ndjson": {"application/x-ndjson", func(w *bufio.Writer) answerWriter { return &ndjsonAnswer{w: w} }},
	"csv":    {"text/csv; charset=utf-8", func(w *bufio.Writer) answerWriter { return &csvAnswer{w: csv.NewWriter(w)} }},
}

func writeAnswer(out answerWriter, w *bufio.Writer, conn net.Conn, answer logstore.Answer, row []any, most int) error {
	err := out.head(answer.Columns())
	n := 0
	for ; err == nil && row != nil && n < most; n++ {
		if err = out.row(row); err != nil {
			break
		}
		if n%sqlFlush == 0 {
			err = errors.Join(conn.SetWriteDeadline(time.Now().Add(writeLimit)), w.Flush())
		}
		if err == nil {
			row, err = answer.Next()
		}
	}
	if err == nil {
		err = errors.Join(out.end(row != nil), conn.SetWriteDeadline(time.Now().Add(writeLimit)), w.Flush())
	}
	return err
}

// jsonAnswer writes one document.
type jsonAnswer struct {
	w    *bufio.Writer
	rows bool
}

func (a *jsonAnswer) head(columns []logstore.AnswerColumn) error {
	if columns == nil {
		columns = []logstore.AnswerColumn{}
	}
	text, err := json.Marshal(columns)
	if err == nil {
		_, err = fmt.Fprintf(a.w, `{"columns":%s,"rows":[`, text)
	}
	return err
}

func (a *jsonAnswer) row(values []any) error {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("encode row: %w", err)
	}
	if a.rows {
		text = append([]byte(",\n"), text...)
	}
	a.rows = true
	_, err = a.w.Write(text)
	return err
}

func (a *jsonAnswer) end(truncated bool) error {
	_, err := fmt.Fprintf(a.w, "],\"truncated\":%t}\n", truncated)
	return err
}

// ndjsonAnswer writes an object a row, its members in the order of the columns.
type ndjsonAnswer struct {
	w     *bufio.Writer
	names [][]byte
}

func (a *ndjsonAnswer) head(columns []logstore.AnswerColumn) error {
	for _, c := range columns {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return fmt.Errorf("encode column: %w", err)
		}
		a.names = append(a.names, name)
	}
	return nil
}

func (a *ndjsonAnswer) row(values []any) error {
	line := []byte{'{'}
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("encode row: %w", err)
		}
		if i > 0 {
			line = append(line, ',')
		}
		line = append(append(append(line, a.names[i]...), ':'), text...)
	}
	_, err := a.w.Write(append(line, '}', '\n'))
	return err
}

func (a *ndjsonAnswer) end(bool) error { return nil }

// csvAnswer writes a line of names, and one a row. What would be a formula in a
// spreadsheet is made a text.
type csvAnswer struct{ w *csv.Writer }

func (a *csvAnswer) head(columns []logstore.AnswerColumn) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return a.w.Write(names)
}

func (a *csvAnswer) row(values []any) error {
	cells := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
		case string:
			cells[i] = CellText(v)
		case []any, map[string]any:
			text, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("encode row: %w", err)
			}
			cells[i] = string(text)
		default:
			cells[i] = fmt.Sprint(v)
		}
	}
	if err := a.w.Write(cells); err != nil {
		return err
	}
	a.w.Flush()
	return a.w.Error()
}

func (a *csvAnswer) end(bool) error {
	a.w.Flush()
	return a.w.Error()
}
