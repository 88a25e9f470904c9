package cluster_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
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
		w.put(aScript(job.Script{Language: "shell", Source: "echo one"}), cluster.Edit{At: time.Now()})
		if got, err := w.conn.Script(w.t.Context(), "g", digest); err != nil || got != "echo one" {
			w.t.Errorf("%q, %v", got, err)
		}
		if _, err := w.conn.Script(w.t.Context(), "other", digest); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("another group: %v", err)
		}
		w.put(aScript(job.Script{Language: "shell", Digest: digest}), cluster.Edit{At: time.Now()})
		_, _, err := w.conn.Jobs().Put(w.t.Context(), aScript(job.Script{Language: "shell", Digest: job.DigestOf("echo two")}), cluster.Edit{At: time.Now()})
		if problems := job.Problems(err); len(problems) != 1 || problems[0].Field != "task.script.digest" {
			w.t.Errorf("a digest without a script is accepted: %v", err)
		}
	})
}

func TestScriptsOfStepsAreThereAndStay(t *testing.T) {
	inCluster(t, func(w *world) {
		flow := func(scripts ...job.Script) job.Job {
			j := job.Job{Job: "g/flow"}
			for i := range scripts {
				j.Steps = append(j.Steps, job.Step{Step: workflow.Step{Name: "s" + strconv.Itoa(i)}, Task: job.Task{Script: &scripts[i]}})
			}
			return j.WithDefaults()
		}
		w.put(flow(job.Script{Language: "shell", Source: "echo one"}, job.Script{Language: "shell", Source: "echo two"}), cluster.Edit{At: time.Now()})
		_, _, err := w.conn.Jobs().Put(w.t.Context(), flow(job.Script{Language: "shell", Digest: job.DigestOf("echo one")}, job.Script{Language: "shell", Digest: job.DigestOf("x")}), cluster.Edit{At: time.Now()})
		if problems := job.Problems(err); len(problems) != 1 || problems[0].Field != "steps[1].task.script.digest" {
			w.t.Errorf("a digest without a script is accepted: %v", err)
		}
		time.Sleep(cluster.ScriptKept + time.Hour)
		if n, err := w.conn.Scripts().RemoveUnused(w.t.Context()); err != nil || n != 0 {
			w.t.Errorf("removed %d, %v", n, err)
		}
		for _, source := range []string{"echo one", "echo two"} {
			if got, err := w.conn.Script(w.t.Context(), "g", job.DigestOf(source)); err != nil || got != source {
				w.t.Errorf("%q, %v", got, err)
			}
		}
	})
}

func TestAScriptGoesOnceNoVersionUsesItAndItIsOld(t *testing.T) {
	inCluster(t, func(w *world) {
		save := func(source string) {
			w.t.Helper()
			w.put(aScript(job.Script{Language: "shell", Source: source}), cluster.Edit{At: time.Now()})
		}
		removed := func(want int) {
			w.t.Helper()
			if n, err := w.conn.Scripts().RemoveUnused(w.t.Context()); err != nil || n != want {
				w.t.Errorf("removed %d, %v; want %d", n, err, want)
			}
		}
		// A server has decided all fires, so versions may go.
		cursor, err := (&journal.Cursor{Shard: job.Name("g/a").Shard(shards), Done: time.Now().Add(24 * time.Hour), JobsSeq: 1000}).Msg()
		if err == nil {
			_, err = w.conn.JS.PublishMsg(w.t.Context(), cursor)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		save("echo first")
		for i := range bus.JobHistory { // which pushes the first version out
			save("echo " + string(rune('A'+i)))
		}
		removed(0) // it is not old
		time.Sleep(cluster.ScriptKept + time.Hour)
		removed(1)
		if _, err := w.conn.Script(w.t.Context(), "g", job.DigestOf("echo first")); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("the script that nobody uses: %v", err)
		}
		if _, err := w.conn.Script(w.t.Context(), "g", job.DigestOf("echo A")); err != nil {
			w.t.Errorf("a script that a version uses: %v", err)
		}
		removed(0)
		// One that comes back stays, however old it was, and pushes another one out.
		save("echo first")
		removed(1)
		if _, err := w.conn.Script(w.t.Context(), "g", job.DigestOf("echo first")); err != nil {
			w.t.Errorf("a script that was saved again: %v", err)
		}
	})
}

func TestAGroupHasNoMoreScriptsThanItMay(t *testing.T) {
	inCluster(t, func(w *world) {
		for i := range cluster.MaxGroupScripts {
			if _, err := w.conn.JS.PublishAsync(bus.SubjectScript("g", job.DigestOf(strconv.Itoa(i))), []byte("echo")); err != nil {
				w.t.Fatal(err)
			}
		}
		<-w.conn.JS.PublishAsyncComplete()
		put := func(s job.Script) error {
			_, _, err := w.conn.Jobs().Put(w.t.Context(), aScript(s), cluster.Edit{At: time.Now()})
			return err
		}
		if problems := job.Problems(put(job.Script{Language: "shell", Source: "echo new"})); len(problems) != 1 || problems[0].Field != "task.script" || !strings.Contains(problems[0].Reason, "10000 scripts") {
			w.t.Errorf("%+v", problems)
		}
		if err := put(job.Script{Language: "shell", Digest: job.DigestOf("7")}); err != nil {
			w.t.Errorf("one that is there: %v", err)
		}
		kv, err := w.conn.Bucket(w.t.Context(), bus.BucketScript)
		if err == nil {
			err = kv.Purge(w.t.Context(), "g."+job.DigestOf("8"))
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if err := put(job.Script{Language: "shell", Source: "echo new"}); err != nil {
			w.t.Errorf("after one is removed: %v", err)
		}
	})
}
