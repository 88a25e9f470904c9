package alert_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// defaultIncidents returns the incidents of a default rule.
func (w *world) defaultIncidents(rule string) []alerting.Incident {
	w.t.Helper()
	list, err := w.book.Incidents(w.t.Context(), func(inc *alerting.Incident) bool { return inc.Rule == rule })
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) bury(subject, reason string, seq uint64) {
	w.t.Helper()
	err := w.conn.DeadLetters().Bury(w.t.Context(), bus.StreamEvt, seq, 0, &nats.Msg{Subject: subject, Header: nats.Header{}, Data: []byte("{}")}, errors.New(reason))
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestANewDeadLetterRaisesAnIncidentByARuleThatIsThereFromTheStart(t *testing.T) {
	run(t, func(w *world) {
		w.bury("evt.1.billing", "from before there was a rule", 1)
		time.Sleep(time.Second)
		a := w.start("a")
		time.Sleep(10*time.Second + 500*time.Millisecond) // no look falls between the messages that come now
		if all := w.defaultIncidents("dead-letters"); len(all) != 0 {
			w.t.Errorf("of what came before the rule there are the incidents %+v", all)
		}
		w.bury("evt.1.billing", "run 1 is of job ops/x", 2)
		w.bury("evt.2.billing", "status \"ok\" is unknown", 3)
		w.bury("mark.1.ops", "damaged", 4)
		time.Sleep(10 * time.Second)
		all := w.defaultIncidents("dead-letters")
		slices.SortFunc(all, func(a, b alerting.Incident) int { return strings.Compare(a.Group, b.Group) })
		if len(all) != 2 || all[0].Group+all[1].Group != "billingops" {
			w.t.Fatalf("%+v", all)
		}
		for _, inc := range all {
			want := "a message of group ops was refused: damaged"
			if inc.Group == "billing" {
				want = "2 messages of group billing were refused, the last one because: status \"ok\" is unknown"
			}
			if inc.Summary != want || inc.State != alerting.Open {
				w.t.Errorf("%+v, want %q", inc, want)
			}
		}
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(10 * time.Second)
		if again := w.defaultIncidents("dead-letters"); len(again) != 2 || again[0].Count != 1 || again[1].Count != 1 {
			w.t.Errorf("another node that reads them makes %+v", again)
		}
	})
}

func TestADefaultRuleIsARuleAsAnyOther(t *testing.T) {
	run(t, func(w *world) {
		a := w.start("a")
		time.Sleep(settled)
		rules, err := w.book.Rules(w.t.Context())
		if err != nil || len(rules) != len(alert.Defaults()) || rules[0].Author != "carillon" {
			w.t.Fatalf("%+v, %v", rules, err)
		}
		mine := alerting.Rule{Alert: "streams-full", When: alerting.Condition{StreamFull: 99}, Channels: []string{"hook"}}
		if _, _, _, err := w.book.PutRule(w.t.Context(), alerting.RuleDocument{Rule: mine}, cluster.Edit{At: time.Now()}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.book.DeleteRule(w.t.Context(), "dead-letters", cluster.Edit{}); err != nil {
			w.t.Fatal(err)
		}
		a.crash()
		time.Sleep(leaseEnd)
		w.start("b")
		time.Sleep(settled)
		if _, err := w.book.Rule(w.t.Context(), "dead-letters"); !errors.Is(err, job.ErrNotFound) {
			w.t.Errorf("the rule that was deleted is there again: %v", err)
		}
		if e, err := w.book.Rule(w.t.Context(), "streams-full"); err != nil || e.Doc.When.StreamFull != 99 {
			w.t.Errorf("the rule that was changed is %+v, %v", e, err)
		}
	})
}

func TestAParkedShardRaisesAnIncidentByItself(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		park := func(shards ...cluster.ParkedShard) {
			w.t.Helper()
			if err := w.conn.Nodes().PutParked(w.t.Context(), "n1", shards); err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		want := func(n int, state alerting.State) {
			w.t.Helper()
			all := w.defaultIncidents("shards-parked")
			if len(all) != n || n > 0 && (all[0].State != state || all[0].Severity != alerting.Critical) {
				w.t.Errorf("%+v, want %d, the newest %s", all, n, state)
			}
		}
		want(0, "")
		park(cluster.ParkedShard{Shard: 3, Reason: "message size exceeds maximum allowed"})
		want(1, alerting.Open)
		park()
		want(1, alerting.Resolved)
		park(cluster.ParkedShard{Shard: 3, Reason: "again"})
		want(2, alerting.Open)
		time.Sleep(2 * time.Minute) // the node is gone, and its shards are others'
		want(2, alerting.Resolved)
	})
}

// clock has a server say of its clock what is in info, or be gone.
func (w *world) clock(node, info string) {
	w.t.Helper()
	kv, err := w.conn.JS.KeyValue(w.t.Context(), bus.BucketLease)
	if err != nil {
		w.t.Fatal(err)
	}
	if info == "" {
		err = kv.Delete(w.t.Context(), "node."+node)
	} else {
		_, err = kv.Put(w.t.Context(), "node."+node, []byte(`{"node":"`+node+`","info":`+info+`}`))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// states returns the incidents of a default rule, the newest first, each as its state and text.
func (w *world) states(rule string) (all []string) {
	w.t.Helper()
	for _, inc := range w.defaultIncidents(rule) {
		all = append(all, string(inc.State)+": "+inc.Summary)
	}
	slices.Sort(all)
	return all
}

func TestAClockThatIsOutOfLineRaisesAnIncidentByItself(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		see := func(want ...string) {
			w.t.Helper()
			time.Sleep(10 * time.Second)
			if d := cmp.Diff(want, w.states("clocks-wrong")); d != "" {
				w.t.Error(d)
			}
		}
		w.clock("n1", `{"clock_offset_seconds":90,"clock_wrong":true,"yields":"its clock is 1m30s ahead of that of NATS"}`)
		w.clock("n2", `{"clock_offset_seconds":0.004}`)
		w.clock("n3", `{"clock_offset_seconds":0,"yields":"its clock has not been compared with that of NATS yet"}`)
		see("open: the clock of server n1 is 1m30s ahead of NATS' clock, so other servers fire its jobs")
		w.clock("n1", `{"clock_offset_seconds":0}`)
		see("resolved: the clock of server n1 is 1m30s ahead of NATS' clock, so other servers fire its jobs")
		w.clock("n1", `{"clock_offset_seconds":-61.5,"nats_clock_wrong":true}`)
		w.clock("n2", `{"clock_offset_seconds":-61.5,"nats_clock_wrong":true}`)
		w.clock("n3", "")
		nats := "the clock of NATS is wrong, so servers fire by their own clocks: NATS is 1m1.5s ahead of server n1"
		was := "resolved: the clock of server n1 is 1m30s ahead of NATS' clock, so other servers fire its jobs"
		see("open: "+nats, was)
		w.clock("n1", "")
		w.clock("n2", "")
		see("resolved: "+nats, was)
	})
}

func TestAnInstanceWithAWrongClockRaisesAnIncident(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		beatOf := func(instance string, ahead time.Duration) {
			w.t.Helper()
			h := bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: fleet.Instance{Group: "billing", Instance: instance, State: fleet.InstanceOnline, Protocol: fleet.Protocol, At: time.Now().Add(ahead).UTC()}}
			data, err := json.Marshal(h)
			if err != nil {
				w.t.Fatal(err)
			}
			if err := w.conn.NC.Publish(bus.SubjectHeartbeat("billing", instance), data); err != nil {
				w.t.Fatal(err)
			}
		}
		beat := func(ahead time.Duration) { beatOf("w1", ahead) }
		see := func(want ...string) {
			w.t.Helper()
			time.Sleep(10 * time.Second)
			if d := cmp.Diff(want, w.states("clocks-wrong")); d != "" {
				w.t.Error(d)
			}
		}
		beat(time.Second)
		see()
		beat(10 * time.Minute)
		text := "the clock of executor instance w1 of group billing is 10m ahead of NATS' clock; check NTP on its machine"
		see("open: " + text)
		beat(0)
		see("resolved: " + text)
		const most = 10
		for n := range 2 * most {
			beatOf("flood"+strconv.Itoa(n), time.Hour)
		}
		time.Sleep(10 * time.Second)
		if n := len(w.states("clocks-wrong")); n != 1+most {
			w.t.Errorf("%d incidents, want %d", n, 1+most)
		}
	})
}

func TestAGroupOverItsBudgetRaisesAnIncidentByItself(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(settled)
		refuse := func(group string, d time.Duration) {
			w.t.Helper()
			if err := w.conn.Refusals().Put(w.t.Context(), cluster.Refusal{Group: group, Until: time.Now().Add(d)}); err != nil {
				w.t.Fatal(err)
			}
		}
		refuse("billing", time.Minute)
		refuse("ops", -time.Minute)
		text := "executors of group billing send more than their budget: NATS refuses them until " + time.Now().Add(time.Minute).Format(time.RFC3339)
		time.Sleep(10 * time.Second)
		if d := cmp.Diff([]string{"open: " + text}, w.states("groups-over-budget")); d != "" {
			w.t.Error(d)
		}
		if all := w.defaultIncidents("groups-over-budget"); len(all) != 1 || all[0].Group != "billing" || all[0].Severity != alerting.Warning {
			w.t.Errorf("%+v", all)
		}
		time.Sleep(time.Minute)
		if d := cmp.Diff([]string{"resolved: " + text}, w.states("groups-over-budget")); d != "" {
			w.t.Error(d)
		}
	})
}

func TestAGroupOfWhichTooManyRunsWaitRaisesAnIncidentByItself(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(settled)
		for group, d := range map[string]time.Duration{"alpha": time.Minute, "ops": -time.Minute} {
			f := cluster.FullGroup{Group: group, Runs: 16000, Bytes: 966_000_000, MaxBytes: 965_000_000, MaxRuns: 1_000_000, Until: time.Now().Add(d)}
			if err := w.conn.Refusals().PutFullGroup(w.t.Context(), f); err != nil {
				w.t.Fatal(err)
			}
		}
		text := "too many runs of group alpha wait for an executor (16000, about 966 MB): further fires are missed"
		time.Sleep(10 * time.Second)
		if d := cmp.Diff([]string{"open: " + text}, w.states("groups-over-budget")); d != "" {
			w.t.Error(d)
		}
		if all := w.defaultIncidents("groups-over-budget"); len(all) != 1 || all[0].Group != "alpha" {
			w.t.Errorf("%+v", all)
		}
		time.Sleep(time.Minute)
		if d := cmp.Diff([]string{"resolved: " + text}, w.states("groups-over-budget")); d != "" {
			w.t.Error(d)
		}
	})
}

func TestTheIncidentOfAGroupThatIsRefusedAndFullSaysThatItIsRefused(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(settled)
		until := time.Now().Add(time.Hour)
		if err := w.conn.Refusals().Put(w.t.Context(), cluster.Refusal{Group: "billing", Until: until}); err != nil {
			w.t.Fatal(err)
		}
		if err := w.conn.Refusals().PutFullGroup(w.t.Context(), cluster.FullGroup{Group: "billing", Runs: 16000, Bytes: 966_000_000, Until: until}); err != nil {
			w.t.Fatal(err)
		}
		want := []string{"open: executors of group billing send more than their budget: NATS refuses them until " + until.Format(time.RFC3339)}
		for range 5 {
			time.Sleep(2 * time.Minute)
			if d := cmp.Diff(want, w.states("groups-over-budget")); d != "" {
				w.t.Fatal(d)
			}
		}
	})
}

func TestAGroupThatKeepsTooMuchRaisesAnIncidentThatSaysOfWhat(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(settled)
		until := time.Now().Add(time.Minute)
		r := cluster.Refusal{Group: "billing", Until: until, Kept: &fleet.Kept{Group: "billing", Bucket: "INST", Keys: 170000, MaxKeys: 1000}}
		if err := w.conn.Refusals().Put(w.t.Context(), r); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		text := "open: executors of group billing keep 170000 keys in the bucket INST, of at most 1000: NATS refuses them until " + until.Format(time.RFC3339) + ", and the oldest keys are removed"
		if d := cmp.Diff([]string{text}, w.states("groups-over-budget")); d != "" {
			w.t.Error(d)
		}
	})
}

// EVT is trimmed no further than the alerter has come.
func TestWithoutARuleAboutRunsTheAlerterPassesEventsAndANewRuleFindsWhatComesNext(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(settled)
		w.bury("evt.1.billing", "damaged", 1) // so that there is a position
		w.ends(report, job.StatusFailed)
		w.ends(report, job.StatusFailed)
		time.Sleep(20 * time.Second)
		if upTo, err := w.conn.Events().Alerted(w.t.Context(), bus.StreamEvt); err != nil || upTo < 2 || upTo > 100 {
			w.t.Errorf("the alerter has come to %d of EVT: %v", upTo, err)
		}
		w.rule(alerting.Condition{Ends: []job.Status{job.StatusFailed}})
		w.ends(report, job.StatusFailed)
		time.Sleep(settled)
		w.wantSent("opened billing/report failed")
	})
}
