package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
)

// MaxFile is the greatest size of a file of manifests, in bytes.
const MaxFile = 4 << 20

// maxDocument bounds a document: the parser's time grows faster than its input.
const maxDocument = 1 << 20

// Options say what to make of manifests.
type Options struct {
	// Group is the group of the jobs, a slug.
	Group string
	// Image is the image that has the program at /usr/bin/carillon.
	Image string
	// Server is the address to which the containers report.
	Server string
	// Secret names the secret with the token, under the key "token".
	Secret string
}

// CronJob is what became of a CronJob.
type CronJob struct {
	Name    string // namespace/name
	Wrapped bool   // else its manifest is as it was
	Notes   []string
	Job     job.Job
}

// Import reads a file of manifests. It returns each document as JSON, with the keys in their order, and the
// CronJobs among them. Other documents stay as they are, but for comments. The error is an *InvalidError.
func Import(file string, data []byte, o Options) (documents [][]byte, jobs []CronJob, err error) {
	if err := refuse(file, data); err != nil {
		return nil, nil, err
	}
	for _, text := range split(data) {
		at := fmt.Sprintf("document %d of %s", len(documents)+1, file)
		if len(text) > maxDocument {
			return nil, nil, job.Invalid("manifest", "%s has %d bytes; at most %d are read", at, len(text), maxDocument)
		}
		var doc any
		if err := yaml.UnmarshalWithOptions(text, &doc, yaml.UseOrderedMap()); err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			return nil, nil, job.Invalid("manifest", "%s is no YAML: %s", at, first)
		}
		if doc == nil {
			continue
		}
		doc, found, err := convert(doc, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", at, err)
		}
		encoded, err := encode(doc)
		if err != nil {
			return nil, nil, job.Invalid("manifest", "%s: %v", at, err)
		}
		documents, jobs = append(documents, encoded), append(jobs, found...)
	}
	if len(jobs) == 0 {
		return nil, nil, job.Invalid("manifest", "%s has no CronJob of batch/v1", file)
	}
	return documents, jobs, nil
}

// refuse refuses what is not a file of manifests.
func refuse(file string, data []byte) error {
	if len(data) > MaxFile {
		return job.Invalid("manifest", "%s has %d bytes; at most %d are read", file, len(data), MaxFile)
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if before, _, is := bytes.Cut(text, []byte("{{")); is && !bytes.Contains(before, []byte("#")) {
			return job.Invalid("manifest", "line %d of %s is of a Helm template; render the chart first: helm template RELEASE CHART | carillon import kubernetes -", line, file)
		}
	}
	return nil
}

// split divides a file at its lines "---".
func split(data []byte) (all [][]byte) {
	var now []byte
	for line := range bytes.Lines(data) {
		if rest, is := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("---")); is && (len(rest) == 0 || rest[0] == ' ') {
			all, now = append(all, now), nil
			continue
		}
		now = append(now, line...)
	}
	return append(all, now)
}

// convert converts a document: a CronJob, or a list with some.
func convert(doc any, o Options) (any, []CronJob, error) {
	m, is := doc.(yaml.MapSlice)
	if !is {
		return doc, nil, nil
	}
	kind, version := text(m, "kind"), text(m, "apiVersion")
	switch {
	case kind == "CronJob" && version == "batch/v1":
		m, found, err := cronJob(m, o)
		return m, []CronJob{found}, err
	case kind == "CronJob":
		return nil, nil, job.Invalid("apiVersion", "%q of a CronJob must be batch/v1", version)
	case kind == "List" || kind == "CronJobList":
		items, _ := get(m, "items").([]any)
		var jobs []CronJob
		for i, item := range items {
			if of, is := item.(yaml.MapSlice); is && kind == "CronJobList" && text(of, "kind") == "" {
				item = append(yaml.MapSlice{{Key: "apiVersion", Value: version}, {Key: "kind", Value: "CronJob"}}, of...)
			}
			converted, found, err := convert(item, o)
			if err != nil {
				return nil, nil, fmt.Errorf("items[%d]: %w", i, err)
			}
			items[i], jobs = converted, append(jobs, found...)
		}
		return m, jobs, nil
	}
	return doc, nil, nil
}

// cronJob converts a CronJob.
func cronJob(m yaml.MapSlice, o Options) (yaml.MapSlice, CronJob, error) {
	meta, spec := sub(m, "metadata"), sub(m, "spec")
	namespace, name := text(meta, "namespace"), text(meta, "name")
	if namespace == "" {
		namespace = "default"
	}
	c := CronJob{Name: namespace + "/" + name}
	if name == "" {
		return nil, c, job.Invalid("metadata.name", "is missing")
	}
	short := job.Slug(namespace+"-"+name, job.MaxSlug)
	j := job.Job{Job: job.Name(o.Group + "/" + short), Description: "CronJob " + c.Name + " of Kubernetes"}
	grace := job.DefaultWatchGrace.Std()
	if s, has := number(spec, "startingDeadlineSeconds"); has {
		grace = min(max(grace, time.Duration(min(s, 1<<20))*time.Second), job.MaxWatchGrace)
	}
	j.Task.Watch = &job.Watch{Grace: job.Duration(grace)}
	var err error
	if j.Schedule, err = schedule(spec, &c); err != nil {
		return nil, c, fmt.Errorf("CronJob %s: %w", c.Name, err)
	}
	template := sub(sub(spec, "jobTemplate"), "spec")
	pod := sub(sub(template, "template"), "spec")
	for _, of := range []yaml.MapSlice{template, pod} {
		if s, has := number(of, "activeDeadlineSeconds"); has && s > 0 && s < 1<<22 {
			j.Timeout = job.Duration(time.Duration(s) * time.Second)
		}
	}
	j.Paused, _ = get(spec, "suspend").(bool)
	if policy := text(spec, "concurrencyPolicy"); policy == "Forbid" || policy == "Replace" {
		c.Notes = append(c.Notes, "concurrencyPolicy "+policy+": a run that Kubernetes does not start is missed")
	}
	if n, has := number(template, "backoffLimit"); !has || n > 0 {
		c.Notes = append(c.Notes, "a retry of the pod (backoffLimit) reports to the same run; its first end counts")
	}
	if err := j.Validate(); err != nil {
		return nil, c, fmt.Errorf("CronJob %s: %w", c.Name, err)
	}
	c.Job = j
	pod, why := wrap(pod, &c, o)
	if why != "" {
		c.Notes = append([]string{why}, c.Notes...)
		return m, c, nil
	}
	c.Wrapped = true
	outer := sub(spec, "jobTemplate")
	template = set(template, "template", set(sub(template, "template"), "spec", pod))
	return set(m, "spec", set(spec, "jobTemplate", set(outer, "spec", template))), c, nil
}

// schedule returns when Kubernetes starts the runs.
func schedule(spec yaml.MapSlice, c *CronJob) (job.Schedule, error) {
	when, zone := text(spec, "schedule"), text(spec, "timeZone")
	if when == "" {
		return job.Schedule{}, job.Invalid("spec.schedule", "is missing")
	}
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, is := strings.CutPrefix(when, prefix); is {
			zone, when, _ = strings.Cut(rest, " ")
		}
	}
	if zone == "" {
		zone = "UTC"
		c.Notes = append(c.Notes, "no timeZone: taken as UTC, which is usually that of the controller")
	}
	fields := strings.TrimSpace(when)
	if n := len(strings.Fields(fields)); n != 5 && !strings.HasPrefix(fields, "@") {
		return job.Schedule{}, job.Invalid("spec.schedule", "%q has %d fields; must have 5", fields, n)
	}
	if strings.HasPrefix(fields, "@every") {
		return job.Schedule{}, job.Invalid("spec.schedule", "%q counts from the start of the controller; write five fields", fields)
	}
	if _, err := cron.Parse(fields, 0); err != nil {
		return job.Schedule{}, job.Invalid("spec.schedule", "%v", err)
	}
	return job.Schedule{Cron: fields, Zone: zone}, nil
}

// errNotJSON is the error of a document that JSON cannot have.
var errNotJSON = errors.New("has a value that JSON cannot have, such as .inf or a key that is no text")
