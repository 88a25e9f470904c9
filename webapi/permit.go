package webapi

import (
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"carillon/auth"
	"carillon/job"
	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// admit returns the handler that lets through who may do an operation. Behind it the
// context has the caller.
func (s *Server) admit(operation string) fiber.Handler {
	p, known := access.Permits[operation]
	if !known {
		panic("BUG: operation " + operation + " has no row in permits")
	}
	return func(c *fiber.Ctx) error {
		by, err := s.identify(c)
		if err != nil && (p.Where != access.Open || !errors.Is(err, auth.ErrUnauthenticated)) {
			return err
		}
		c.SetUserContext(access.With(c.UserContext(), by))
		if p.Where == access.Open {
			return c.Next()
		}
		if by.Who == nil {
			return problem.Explain(auth.ErrUnauthenticated, "sign in first, or send an API token")
		}
		if err := p.Allows(by.Who, func() (string, error) { return s.groupOf(c, p) }); err != nil {
			return err
		}
		return c.Next()
	}
}

// groupOf returns the group of what a path names.
func (s *Server) groupOf(c *fiber.Ctx, p access.Permit) (string, error) {
	switch p.Where {
	case access.OfRun:
		return s.handlers.groupOfRun(c)
	case access.OfIncident:
		return s.handlers.groupOfIncident(c)
	case access.Open, access.Self, access.Somewhere, access.Everywhere, access.Asking, access.OfPath:
	}
	return c.Params("group"), nil
}

// groupOfRun returns the group of the run that a path names, as it is stored. Of a run
// that is too new to be stored it is that of the job which the request says. That is a
// claim: what is then read of the run is checked again (access.VisibleStore), and what is done
// to it is done to a run of a job of which the caller may do so (access.MayDo).
func (h *handlers) groupOfRun(c *fiber.Ctx) (string, error) {
	attempts, err := h.attempts(c.UserContext(), c.Params("run_id"))
	if err == nil {
		return attempts[0].Job.Group(), nil
	}
	if errors.Is(err, access.ErrOthers) { // whatever job the request says
		return "", err
	}
	name := job.Name(c.Query("job"))
	if name == "" {
		name = jobOfBody(c.Body())
	}
	if !errors.Is(err, job.ErrNotFound) || name == "" {
		return "", err
	}
	return name.Group(), nil
}

// jobOfBody returns the job that the body of a request names, or nothing.
func jobOfBody(body []byte) job.Name {
	var r struct {
		Job string `json:"job"`
	}
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	name, err := job.ParseName(r.Job)
	if err != nil {
		return ""
	}
	return name
}
