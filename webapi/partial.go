package webapi

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"carillon/job/runlog"
	"carillon/logstore"
)

// StoodIn is a store of which another one may answer in its place.
type StoodIn interface {
	// StandIn returns what that one has, or nil while the store itself is asked.
	StandIn() *runlog.Partial
}

// partial lets a request that only shows something have an answer that is not of the whole
// history, and tells in its headers that it is: lists, runs and logs are worth most while
// something is wrong. What adds up years, or judges by what is missing, waits for the store.
func partial(c *fiber.Ctx) error {
	if !mayBePartial(c.Method(), c.Path()) {
		return c.Next()
	}
	ctx, witness := logstore.AcceptPartial(c.UserContext())
	c.SetUserContext(ctx)
	err := c.Next()
	if p := witness.Partial(); p != nil && err == nil {
		tellPartial(c, p)
	}
	return err
}

func tellPartial(c *fiber.Ctx, p *runlog.Partial) {
	if !p.Since.IsZero() {
		c.Set(headerSince, p.Since.Format(time.RFC3339Nano))
	}
	c.Set(headerAsOf, p.AsOf.Format(time.RFC3339Nano))
}

func mayBePartial(method, path string) bool {
	if method == fiber.MethodPost { // which takes no more than whose run it is, and that it goes on
		return strings.HasPrefix(path, "/api/v1/runs/") && strings.HasSuffix(path, "/cancel")
	}
	if method != fiber.MethodGet && method != fiber.MethodHead || strings.HasSuffix(path, "/ledger") || path == "/api/v1/runs/export" {
		return false
	}
	for _, resource := range []string{"overview", "runs", "jobs", "logs"} {
		if rest, ok := strings.CutPrefix(path, "/api/v1/"+resource); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
