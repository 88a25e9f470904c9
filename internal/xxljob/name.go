package xxljob

import (
	"regexp"
	"strconv"

	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/job"
)

var word = regexp.MustCompile(`[a-z]{2}`)

// GroupOf returns the executor group that an AppName becomes, "" if nothing of it can be in a slug.
func GroupOf(appName string) string { return foreign.Slug(appName) }

// nameFor takes a name for a job that no other has.
func (im *importer) nameFor(group string, e *Entry, task job.Task) job.Name {
	id := strconv.Itoa(e.ID)
	plain := foreign.Slug(task.Handler)
	if title := foreign.Slug(e.Title); plain == "" && word.MatchString(title) {
		plain = title
	}
	if plain == "" {
		plain = "job-" + id // its title is in Chinese, most often
	}
	name := job.Name(group + "/" + plain)
	for im.names[name] {
		name += job.Name("-" + id)
	}
	im.names[name] = true
	return name
}
