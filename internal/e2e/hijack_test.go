//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// With the credential of one group, by raw NATS messages, somebody tries to end, mask, fake and
// move runs of another group, and to print into their logs. All of it becomes dead letters.
func TestAGroupCannotEndMaskFakeOrMoveRunsOfAnother(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.ann.run(0, "", "apply -f "+g.write("jobs.yaml",
		"job: alpha/hello\ntask: {shell: echo hi}\n---\n"+
			"job: beta/slow\ntask: {shell: echo begun; sleep 5; echo done}\n---\n"+
			"job: beta/fails\ntask: {shell: exit 3}\n---\n"+
			"job: beta/hello\nschedule: {cron: '0/10 * * * * ?'}\ntask: {shell: echo hi}\n"))
	_, alpha := g.credential("alpha", "a")
	_, beta := g.credential("beta", "b")
	g.executor("alpha", alpha)
	g.executor("beta", beta)
	g.ann.run(0, "", "run alpha/hello --wait", "succeeded")
	seed, err := os.ReadFile(alpha)
	if err != nil {
		t.Fatal(err)
	}
	evil, _ := g.connect(string(seed), bus.ExecutorInbox("alpha"))

	forged := 0
	publish := func(subject, kind string, body any) {
		t.Helper()
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{"", "x.AAAAAAAAAAAAAAAAAAAAAA"} {
			m := bus.NewMessage(subject, kind, data)
			if token != "" {
				m.Header.Set(bus.HeaderToken, token)
			}
			if err := evil.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
			forged++
		}
	}
	shard := job.Name("alpha/hello").Shard(cluster.DefaultShards)
	end := func(run job.RunID, attempt int, status job.Status, cause job.Cause, fire time.Time) {
		t.Helper()
		now := time.Now().UTC()
		publish(bus.SubjectEvent(shard, "alpha"), bus.MessageEvent, &bus.Event{
			Kind: bus.EventFinished, RunID: run, Job: "alpha/hello", Version: 1, Shard: shard, Attempt: attempt, Cause: cause,
			FireTime: fire, CommittedAt: now, At: now, StartedAt: now, FinishedAt: now, Status: status, Message: "FORGED",
		})
	}
	id := func(out string) job.RunID {
		t.Helper()
		var run struct {
			RunID job.RunID `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(out), &run); err != nil || run.RunID == "" {
			t.Fatalf("%v: %s", err, out)
		}
		return run.RunID
	}

	slow := id(g.ann.run(0, "", "run beta/slow -o json"))
	end(slow, 1, job.StatusSucceeded, job.CauseAPI, slow.Time())
	end(slow, 2, job.StatusFailed, job.CauseAPI, slow.Time())
	publish(bus.SubjectLog("alpha", slow), bus.MessageLog, map[string]any{
		"run_id": slow, "job": "alpha/hello", "attempt": 1, "lines": []map[string]any{{"seq": 2, "at": time.Now().UTC(), "text": "INJECTED"}},
	})
	failed := id(g.ann.run(0, "", "run beta/fails -o json"))
	g.ann.run(10, "", "wait "+string(failed))
	end(failed, 2, job.StatusSucceeded, job.CauseAPI, failed.Time())
	// The next fires, whose ids anybody can compute.
	for _, ahead := range []int{1, 2, 3} {
		at := time.Now().Truncate(10 * time.Second).Add(time.Duration(ahead) * 10 * time.Second)
		end(job.FireRunID("beta/hello", at.UnixMilli(), job.CauseSchedule), 1, job.StatusFailed, job.CauseSchedule, at)
	}
	if err := evil.Flush(); err != nil {
		t.Fatal(err)
	}

	g.ann.run(0, "", "wait "+string(slow), "succeeded")
	processtest.Await(t, processtest.Patience, "wait for the forgeries to be refused", func() error {
		var letters struct {
			Items []json.RawMessage `json:"items"`
		}
		out := g.ann.run(0, "", "get dead-letters -o json")
		if err := json.Unmarshal([]byte(out), &letters); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if len(letters.Items) != forged {
			return fmt.Errorf("%d dead letters of %d", len(letters.Items), forged)
		}
		return nil
	})
	for run, want := range map[job.RunID]string{slow: "beta/slow", failed: "beta/fails"} {
		if out := g.ann.run(0, "", "get run "+string(run)); !strings.Contains(out, want) || strings.Contains(out, "FORGED") || strings.Contains(out, "alpha") {
			t.Errorf("run of %s:\n%s", want, out)
		}
	}
	if out := g.ann.run(0, "", "logs "+string(slow)); !strings.Contains(out, "done") || strings.Contains(out, "INJECTED") {
		t.Errorf("log:\n%s", out)
	}
	processtest.Await(t, processtest.Patience, "wait for three fires to have run", func() error {
		out := g.ann.run(0, "", "ledger show beta/hello --since 5m")
		if strings.Contains(out, "alpha") || strings.Contains(strings.ToLower(out), "discrepanc") && !strings.Contains(out, "No discrepancy") {
			t.Fatalf("the ledger:\n%s", out)
		}
		if n := strings.Count(out, " ran "); n < 4 {
			return fmt.Errorf("%d fires ran:\n%s", n, out)
		}
		return nil
	})
}
