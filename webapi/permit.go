package webapi

import (
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"carillon/job"
	"carillon/webapi/access"
)

// groupOfRun returns the group of the run that a path names, as it is stored. Of a run
// that is too new to be stored it is that of the job which the request says. That is a
// claim: what is then read of the run is checked again (access.VisibleStore), and what is done
// to it is done to a run of a job of which the caller may do so (access.MayDo).
func (h *handlers) groupOfRun(c *fiber.Ctx) (string, error) {
	attempts, err := h.runs.Attempts(c.UserContext(), c.Params("run_id"))
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
