package guard

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Admit returns the handler that lets through who may do an operation. Behind it the
// context has the caller.
func (g *Guard) Admit(operation string) fiber.Handler {
	p, known := access.Permits[operation]
	if !known {
		panic("BUG: operation " + operation + " has no row in permits")
	}
	return func(c *fiber.Ctx) error {
		by, err := g.identify(c, p.OnlyToken)
		if err != nil && (p.Where != access.Open || !errors.Is(err, auth.ErrUnauthenticated)) {
			return err
		}
		c.SetUserContext(access.With(c.UserContext(), by))
		if p.Where == access.Open {
			return c.Next()
		}
		if by.Who == nil {
			return problem.Explain(auth.ErrUnauthenticated, refusal.SignInFirst.String())
		}
		by.Wait = func(ctx context.Context) (access.Slot, error) { return g.slots.takeIdle(ctx, by.Who.User) }
		groupOf := func() (string, error) { return g.groupOf(c, p) }
		if err := p.Allows(by.Who, groupOf); err != nil {
			return err
		}
		if by.Assistant != "" {
			if err := p.AllowsAssistant(by.Who, groupOf); err != nil {
				return err
			}
		}
		if !p.Costly {
			return c.Next()
		}
		slot, err := g.slots.take(c.UserContext(), by.Who.User)
		if err != nil {
			return err
		}
		by.Slot = slot
		defer func() {
			if by.Slot != nil { // else its handler took it
				by.Slot.Release()
			}
		}()
		return c.Next()
	}
}

// groupOf returns the group of what a path names.
func (g *Guard) groupOf(c *fiber.Ctx, p access.Permit) (string, error) {
	switch p.Where {
	case access.OfRun:
		return g.cfg.GroupOfRun(c)
	case access.OfIncident:
		return g.cfg.GroupOfIncident(c)
	case access.Open, access.Self, access.Somewhere, access.Everywhere, access.Asking, access.OfPath:
	}
	return c.Params("group"), nil
}
