package bus_test

import (
	"errors"
	"testing"
	"time"

	"carillon/bus"
	"carillon/job"
)

func aScript(s job.Script) job.Job {
	return job.Job{Job: "g/a", Task: job.Task{Script: &s}}.WithDefaults()
}

func TestAJobsScriptIsThereBeforeTheJobIs(t *testing.T) {
	inCluster(t, func(w *world) {
		digest := job.DigestOf("echo one")
		if _, err := w.conn.Script(w.t.Context(), "g", digest); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("before: %v", err)
		}
		w.put(aScript(job.Script{Language: "shell", Source: "echo one"}), bus.Edit{At: time.Now()})
		if got, err := w.conn.Script(w.t.Context(), "g", digest); err != nil || got != "echo one" {
			w.t.Errorf("%q, %v", got, err)
		}
		if _, err := w.conn.Script(w.t.Context(), "other", digest); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("another group: %v", err)
		}
		w.put(aScript(job.Script{Language: "shell", Digest: digest}), bus.Edit{At: time.Now()})
		_, _, err := w.conn.PutJob(w.t.Context(), aScript(job.Script{Language: "shell", Digest: job.DigestOf("echo two")}), bus.Edit{At: time.Now()})
		if problems := job.Problems(err); len(problems) != 1 || problems[0].Field != "task.script.digest" {
			w.t.Errorf("a script that nobody has given: %v", err)
		}
	})
}
