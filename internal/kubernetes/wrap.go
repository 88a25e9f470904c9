package kubernetes

import (
	"slices"

	"github.com/goccy/go-yaml"
)

// What the manifest gets, by name.
const (
	volume   = "carillon-watch"
	folder   = "/carillon-watch"
	program  = folder + "/carillon"
	tokenKey = "token"
)

// wrap returns the pod with its first container wrapped, or why it cannot be.
func wrap(pod yaml.MapSlice, c *CronJob, o Options) (_ yaml.MapSlice, why string) {
	containers, _ := get(pod, "containers").([]any)
	if len(containers) == 0 {
		return nil, "it has no container"
	}
	first, is := containers[0].(yaml.MapSlice)
	if !is {
		return nil, "its container is no object"
	}
	command, _ := get(first, "command").([]any)
	switch {
	case len(command) == 0:
		return nil, "container " + text(first, "name") + " has no command, and the entry point of its image is not known: write one, or ping at the end: " +
			"curl -fsS -m 10 --retry 3 -o /dev/null " + o.Server + "/ping/TOKEN/$?"
	case command[0] == program:
		c.Notes = append(c.Notes, "it is wrapped already")
		return pod, ""
	}
	if len(containers) > 1 {
		c.Notes = append(c.Notes, "only the first container, "+text(first, "name")+", reports")
	}
	first = set(first, "command", append([]any{program, "watch", string(c.Job.Job), "--run", "$(CARILLON_JOB_NAME)", "--patience", "30s", "--"}, command...))
	env, _ := get(first, "env").([]any)
	first = set(first, "env", append([]any{
		variable("CARILLON_SERVER", yaml.MapItem{Key: "value", Value: o.Server}),
		variable("CARILLON_WATCH_TOKEN", from("secretKeyRef", yaml.MapSlice{{Key: "name", Value: o.Secret}, {Key: "key", Value: tokenKey}})),
		variable("CARILLON_JOB_NAME", from("fieldRef", yaml.MapSlice{{Key: "fieldPath", Value: "metadata.labels['job-name']"}})),
		variable("XDG_STATE_HOME", yaml.MapItem{Key: "value", Value: folder + "/state"}),
	}, env...))
	mount := yaml.MapSlice{{Key: "name", Value: volume}, {Key: "mountPath", Value: folder}}
	first = appendTo(first, "volumeMounts", mount)
	containers = slices.Clone(containers)
	containers[0] = first
	pod = set(pod, "containers", containers)
	pod = appendTo(pod, "volumes", yaml.MapSlice{{Key: "name", Value: volume}, {Key: "emptyDir", Value: yaml.MapSlice{}}})
	inits, _ := get(pod, "initContainers").([]any)
	return set(pod, "initContainers", append([]any{yaml.MapSlice{
		{Key: "name", Value: volume},
		{Key: "image", Value: o.Image},
		{Key: "command", Value: []any{"/usr/bin/carillon", "watch", "--install", folder}},
		{Key: "volumeMounts", Value: []any{mount}},
	}}, inits...)), ""
}

func variable(name string, value yaml.MapItem) yaml.MapSlice {
	return yaml.MapSlice{{Key: "name", Value: name}, value}
}

func from(kind string, of yaml.MapSlice) yaml.MapItem {
	return yaml.MapItem{Key: "valueFrom", Value: yaml.MapSlice{{Key: kind, Value: of}}}
}
