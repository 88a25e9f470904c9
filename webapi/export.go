package webapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gofiber/fiber/v2"

	"carillon/webapi/access"
	"carillon/webapi/stream"
)

// exportPage is how many items an export reads at a time.
const exportPage = 1000

// export is a list as a file: NDJSON, or CSV with a header.
type export[T any] struct {
	name string // of the file, without its ending
	// page returns the next items, and whether there are more.
	page func(context.Context) (items []T, more bool, err error)
	head []string
	row  func(*T) []string
	// about, unless nil, returns headers that tell of the whole. It is called once the first
	// page has been read.
	about func() map[string]string
}

// serve answers a request for an export, as long as live is not done. It holds a page at
// a time, however slow the client is; what cannot be read any more ends the connection,
// so that a part does not pass for the whole.
func (e *export[T]) serve(live context.Context, c *fiber.Ctx, log *slog.Logger) error {
	write := e.ndjson
	kind, ending := "application/x-ndjson", ".ndjson"
	if c.Query("format") == "csv" {
		kind, ending, write = "text/csv; charset=utf-8", ".csv", e.csv
	}
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+e.name+ending+`"`)
	if c.Method() == fiber.MethodHead {
		return nil
	}
	by, conn := access.Of(c.UserContext()), c.Context().Conn()
	// The first page is read before the answer begins: so what is wrong is an error.
	items, more, err := e.page(c.UserContext())
	if err != nil {
		return err
	}
	if e.about != nil {
		for name, value := range e.about() {
			c.Set(name, value)
		}
	}
	ctx := access.With(live, by)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		for begun := false; ; begun = true {
			err := conn.SetWriteDeadline(time.Now().Add(stream.WriteLimit))
			if err == nil {
				err = errors.Join(write(w, items, !begun), w.Flush())
			}
			if err == nil && !more {
				return
			}
			if err == nil {
				items, more, err = e.page(ctx)
			}
			if err != nil {
				log.DebugContext(ctx, "export interrupted", "export", e.name, "error", err)
				_ = conn.Close()
				return
			}
		}
	})
	return nil
}

func (e *export[T]) ndjson(w *bufio.Writer, items []T, _ bool) error {
	out := json.NewEncoder(w)
	for i := range items {
		if err := out.Encode(&items[i]); err != nil {
			return fmt.Errorf("write item: %w", err)
		}
	}
	return nil
}

func (e *export[T]) csv(w *bufio.Writer, items []T, first bool) error {
	out := csv.NewWriter(w)
	var errs []error
	if first {
		errs = append(errs, out.Write(e.head))
	}
	for i := range items {
		errs = append(errs, out.Write(e.row(&items[i])))
	}
	out.Flush()
	return errors.Join(append(errs, out.Error())...)
}

// cellTime writes an instant for a spreadsheet; none is empty.
func cellTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
