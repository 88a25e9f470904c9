package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// PageSize is how many items an export reads at a time.
const PageSize = 1000

// writeLimit is how long one write may take. It replaces the limit of the server, which is for whole
// responses.
const writeLimit = 10 * time.Second

// List is a list as a file: NDJSON, or CSV with a header.
type List[T any] struct {
	Name string // of the file, without its ending
	// Page returns the next items, and whether there are more.
	Page func(context.Context) (items []T, more bool, err error)
	Head []string
	Row  func(*T) []string
	// About, unless nil, returns headers that tell of the whole. It is called once the first
	// page has been read.
	About func() map[string]string
}

// Serve answers a request for an export, as long as live is not done and the caller keeps all
// rights. It holds a page at a time, however slow the client is, and its slot to the end; what
// cannot be read any more ends the connection, so that a part does not pass for the whole.
func (e *List[T]) Serve(live context.Context, c *fiber.Ctx, users *auth.Directory, log *slog.Logger) error {
	write := e.ndjson
	kind, ending := "application/x-ndjson", ".ndjson"
	if c.Query("format") == "csv" {
		kind, ending, write = "text/csv; charset=utf-8", ".csv", e.csv
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+e.Name+ending+`"`)
	if c.Method() == fiber.MethodHead {
		return nil
	}
	by, conn := access.Of(c.UserContext()), c.Context().Conn()
	// The first page is read before the answer begins: so what is wrong is an error.
	items, more, err := e.Page(c.UserContext())
	if err != nil {
		return err
	}
	if e.About != nil {
		for name, value := range e.About() {
			c.Set(name, value)
		}
	}
	ctx := access.With(live, by)
	caller, slot := access.NewLasting(c.UserContext(), users), access.TakeSlot(c.UserContext())
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer slot.Release()
		slot.Rest()
		for begun := false; ; begun = true {
			err := conn.SetWriteDeadline(time.Now().Add(writeLimit))
			if err == nil {
				err = errors.Join(write(w, items, !begun), w.Flush())
			}
			if err == nil && !more {
				return
			}
			if err == nil {
				items, more, err = e.next(ctx, caller, slot)
			}
			slot.Rest()
			if err != nil {
				log.DebugContext(ctx, "export interrupted", "export", e.Name, "error", err)
				_ = conn.Close()
				return
			}
		}
	})
	return nil
}

// errRights means that the caller of an export has other rights than when it began.
var errRights = errors.New("the rights of the caller have changed")

// next returns a page that is not the first.
func (e *List[T]) next(ctx context.Context, caller *access.Lasting, slot access.Slot) ([]T, bool, error) {
	if err := slot.Resume(ctx); err != nil {
		return nil, false, err
	}
	if !caller.Same(ctx, access.Who(ctx)) {
		return nil, false, errRights
	}
	return e.Page(ctx)
}

func (e *List[T]) ndjson(w *bufio.Writer, items []T, _ bool) error {
	out := json.NewEncoder(w)
	for i := range items {
		if err := out.Encode(&items[i]); err != nil {
			return fmt.Errorf("write item: %w", err)
		}
	}
	return nil
}

func (e *List[T]) csv(w *bufio.Writer, items []T, first bool) error {
	out := csv.NewWriter(w)
	var errs []error
	if first {
		errs = append(errs, out.Write(e.Head))
	}
	for i := range items {
		errs = append(errs, out.Write(e.Row(&items[i])))
	}
	out.Flush()
	return errors.Join(append(errs, out.Error())...)
}

// CellTime writes an instant for a spreadsheet; none is empty.
func CellTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// CellText keeps a spreadsheet from taking foreign text for a formula.
func CellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
