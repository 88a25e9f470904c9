package xxljob

import (
	"regexp"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
)

// maxPlain leaves room in a slug for a number.
const maxPlain = 48

var (
	hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	word = regexp.MustCompile(`[a-z]{2}`)
)

// GroupOf returns the executor group that an AppName becomes, "" if nothing of it can be in a slug.
func GroupOf(appName string) string { return slugOf(appName) }

// slugOf returns a slug for a name: "demoJobHandler" is demo-job-handler. It is empty if nothing
// of the name can be in one.
func slugOf(name string) string {
	return job.Slug(hump.ReplaceAllString(name, "$1-$2"), maxPlain)
}

// nameFor takes a name for a job that no other has.
func (im *importer) nameFor(group string, e *Entry, task job.Task) job.Name {
	id := strconv.Itoa(e.ID)
	plain := slugOf(task.Handler)
	if title := slugOf(e.Title); plain == "" && word.MatchString(title) {
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
