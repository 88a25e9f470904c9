package demo

import (
	_ "embed" // for jobs.yaml
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/manifest"
	"github.com/carillon-scheduler/carillon/job"
)

// ticks is how many simple jobs there are.
const ticks = 100

// documents are the jobs with something to see.
//
//go:embed jobs.yaml
var documents string

// tick is the document of a simple job, which fires every five seconds.
const tick = `
job: default/tick-%03d
schedule: {cron: "%d/5 * * * * ?"}
misfire: fire_all
task: {handler: tick}
`

// Jobs returns the jobs that the show fires.
func Jobs() ([]job.Job, error) {
	var text strings.Builder
	text.WriteString(documents)
	for i := range ticks {
		text.WriteString("---\n")
		_, _ = fmt.Fprintf(&text, tick, i+1, i%5)
	}
	docs, err := manifest.Read([]string{"-"}, strings.NewReader(text.String()))
	if err != nil {
		return nil, fmt.Errorf("read jobs of the demonstration: %w", err)
	}
	var jobs []job.Job
	for _, d := range docs {
		j, err := job.Decode(d.JSON)
		if err != nil {
			return nil, fmt.Errorf("job %s of the demonstration: %w", d.Name, err)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}
