package shard

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// customers is a job of which several customers ask for runs.
type customers struct {
	*bench
	seq     uint64 // of the last event
	clock   time.Duration
	of      map[job.RunID]string // who has asked for a run
	runs    map[string][]job.RunID
	began   []string    // whose runs have begun, in this order; a name for each
	open    []job.RunID // runs that have begun and not ended
	said    []string    // what was decided of runs, since it was looked at
	version *job.Version
}

func newCustomers(t *testing.T, o job.Overlap) *customers {
	t.Helper()
	c := &customers{bench: newBench(t), of: map[job.RunID]string{}, runs: map[string][]job.RunID{}}
	c.version = c.put(0, 1, func(v *job.Version) { v.Overlap = o })
	return c
}

// edit saves another version of the job.
func (c *customers) edit(change func(*job.Version)) {
	v := *c.version
	change(&v)
	v.Version++
	v.EffectiveFrom = noon.Add(c.clock)
	c.version = &v
	c.tell(&v)
}

// ask asks for a run of a customer; "" has no name.
func (c *customers) ask(names ...string) {
	c.t.Helper()
	for _, name := range names {
		params := json.RawMessage(`{}`)
		if name != "" {
			params = json.RawMessage(fmt.Sprintf(`{"customer":%q}`, name))
		}
		c.askWith(name, params)
	}
}

func (c *customers) askWith(name string, params json.RawMessage) {
	c.t.Helper()
	id := job.FireRunID("g/a", noon.Add(c.clock).UnixMilli(), job.Cause(strconv.Itoa(len(c.of))))
	if _, err := c.m.Requests.Submit(bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseAPI, Params: params}); err != nil {
		c.t.Fatal(err)
	}
	c.of[id] = name
	c.runs[name] = append(c.runs[name], id)
}

// goOn steps until there is nothing more to do.
func (c *customers) goOn() {
	c.t.Helper()
	for {
		batch := c.m.Step(noon.Add(c.clock).UnixMilli(), bus.MaxBatch)
		if batch == nil {
			return
		}
		s := c.trig.publish(batch.Messages)
		c.m.Committed(s.first)
		deleted := map[uint64]bool{}
		for _, seq := range c.m.Released() {
			c.trig.remove(seq)
			deleted[seq] = true
		}
		c.m.Deleted(deleted)
		for _, t := range s.triggers {
			c.began = append(c.began, c.of[t.RunID])
			c.open = append(c.open, t.RunID)
		}
		for _, k := range batch.Kills {
			c.said = append(c.said, fmt.Sprintf("%s killed: %s", c.of[k.RunID], c.named(k.Reason)))
		}
		if s.record == nil {
			continue
		}
		if err := s.record.Each(func(d journal.Decided) {
			c.said = append(c.said, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", c.of[d.RunID], d.Status, c.named(d.Reason)), ": "))
		}); err != nil {
			c.t.Fatal(err)
		}
	}
}

// named returns a text with the customers' names in the place of the ids of runs.
func (c *customers) named(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if name, ok := c.of[job.RunID(word)]; ok {
			text = strings.ReplaceAll(text, word, "of "+name)
		}
	}
	return text
}

// end ends the run that has begun first of a customer, or of all.
func (c *customers) end(name string, s job.Status) {
	c.t.Helper()
	for i, id := range c.open {
		if name == "*" || c.of[id] == name {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			c.seq++
			c.m.Event(&bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: id, Attempt: 1, Status: s}, c.seq, noon.Add(c.clock).UnixMilli())
			c.goOn()
			return
		}
	}
	c.t.Fatalf("no run of %q is open", name)
}

// wantSaid compares what was decided since the last call.
func (c *customers) wantSaid(want ...string) {
	c.t.Helper()
	got := c.said
	c.said = nil
	c.want(got, want...)
}

var byCustomer = job.Overlap{Policy: job.OverlapQueue, Key: "${params.customer}"}

func TestRunsOfOneKeyWaitForOneAnotherAlone(t *testing.T) {
	c := newCustomers(t, byCustomer)
	c.ask("ann", "ann", "bob", "ann", "", "")
	c.goOn()
	c.wantSaid("ann pending", "ann queued: it waits for run of ann, which has the same overlap key", "bob pending",
		"ann queued: it waits for run of ann, which has the same overlap key",
		" pending: its parameters have no value for the overlap key",
		" queued: it waits for run of , which has the same overlap key; its parameters have no value for the overlap key")
	c.clock += 5 * time.Second
	c.end("bob", job.StatusSucceeded)
	c.wantSaid()
	c.end("ann", job.StatusFailed)
	c.wantSaid("ann pending: it was queued for 5s")
	c.end("", job.StatusSucceeded)
	c.wantSaid(" pending: it was queued for 5s")
}

func TestAKeyIsTheTextOrTheJSONOfAParameter(t *testing.T) {
	same := func(key, a, b string, want bool) {
		t.Helper()
		of := func(params string) string {
			value, ok := keyValue(key, json.RawMessage(params))
			if !ok {
				return "no key"
			}
			return value
		}
		if (of(a) == of(b)) != want {
			t.Errorf("%s is %s of %s, and %s of %s; the same: %t", key, of(a), a, of(b), b, want)
		}
	}
	const key = "${params.c}"
	same(key, `{"c":"42"}`, `{"c":42}`, true)
	same(key, `{"c":{"b":1,"a":[2]}}`, `{ "c": {"a": [2], "b": 1}, "d": 0}`, true)
	same(key, `{"c":{"a":1}}`, `{"c":{"a":2}}`, false)
	same(key, `{"c":null}`, `{}`, true)
	same(key, `{}`, ``, true)
	same(key, `{}`, `7`, true)
	same(key, `{"c":""}`, `{}`, false)
	same(key, `{"c":12345678901234567890}`, `{"c":12345678901234567891}`, false)
	same("${params.a}/${params.b}", `{"a":1,"b":"x"}`, `{"a":"1","b":"x"}`, true)
	same("${params.a}/${params.b}", `{"a":1}`, `{"a":2}`, true)
	same("${params.a.b[0]}", `{"a":{"b":["x"]}}`, `{"a":{"b":["x","y"]}}`, true)
}

func TestAQueueIsOfOneKey(t *testing.T) {
	o := byCustomer
	o.Queue = 1
	c := newCustomers(t, o)
	c.ask("ann", "ann", "ann", "bob", "bob")
	c.goOn()
	c.wantSaid("ann pending", "ann queued: it waits for run of ann, which has the same overlap key",
		"ann skipped: the queue is full: 1 runs wait already; the limit is that of its overlap key", "bob pending",
		"bob queued: it waits for run of bob, which has the same overlap key")
	c.edit(func(v *job.Version) { v.Overlap.WhenFull = job.SkipOldest })
	c.ask("bob")
	c.goOn()
	c.wantSaid("bob skipped: a newer run took its place in the queue, which was full",
		"bob queued: it waits for run of bob, which has the same overlap key")
}

func TestRunsOfOneKeyAreSkippedOrReplacedAlone(t *testing.T) {
	c := newCustomers(t, job.Overlap{Policy: job.OverlapSkip, Key: "${params.customer}", Total: 2})
	c.ask("ann", "ann", "bob", "cid")
	c.goOn()
	c.wantSaid("ann pending", "ann skipped: overlap limit reached: 1 run is still alive; the limit is that of its overlap key", "bob pending",
		"cid skipped: overlap limit reached: 2 runs are still alive; the limit is the total of all overlap keys")

	c = newCustomers(t, job.Overlap{Policy: job.OverlapReplace, Key: "${params.customer}"})
	c.ask("ann", "bob")
	c.goOn()
	c.ask("ann")
	c.goOn()
	c.wantSaid("ann pending", "bob pending", "ann killed: run of ann replaces it", "ann queued: it waits for the end of 1 earlier run, which it replaces")
	c.ask("ann")
	c.goOn()
	c.wantSaid("ann skipped: a newer run replaced it before it began", "ann queued: it waits for the end of 1 earlier run, which it replaces")
	c.end("ann", job.StatusCancelled)
	c.wantSaid("ann pending: it was queued for 0s")
}

func TestARunThatIsKilledForAnotherOfItsKeyIsNotTriedAgain(t *testing.T) {
	c := newCustomers(t, job.Overlap{Policy: job.OverlapReplace, Key: "${params.customer}"})
	c.edit(func(v *job.Version) {
		v.Retry = job.Retry{Limit: 3, Backoff: job.BackoffConstant, Delay: job.Duration(time.Hour), On: []job.Status{job.StatusFailed}}
	})
	c.ask("ann", "bob")
	c.goOn()
	c.ask("ann")
	c.goOn()
	c.wantSaid("ann pending", "bob pending", "ann killed: run of ann replaces it", "ann queued: it waits for the end of 1 earlier run, which it replaces")
	c.end("ann", job.StatusFailed) // as it was killed
	c.wantSaid("ann queued: attempt 1 failed; the next is due 1h later", "ann cancelled: run of ann replaces it", "ann pending: it was queued for 0s")
}

// TestFreePlacesGoRoundTheKeys: one customer has 15,000 runs, and 99 have one.
func TestFreePlacesGoRoundTheKeys(t *testing.T) {
	const places = 50
	o := job.Overlap{Policy: job.OverlapQueue, Key: "${params.customer}", Limit: places, Queue: 20_000, Total: places}
	t.Run("each begins within three turns of the places", func(t *testing.T) {
		c := newCustomers(t, o)
		for range 15_000 {
			c.ask("big")
		}
		c.goOn()
		for i := range 99 {
			c.ask(strconv.Itoa(i))
		}
		c.goOn()
		if len(c.began) != places || c.said[len(c.said)-1] != "98 queued: it waits for a place: as many runs are alive as the total of all overlap keys allows" {
			t.Fatalf("%d have begun; %s", len(c.began), c.said[len(c.said)-1])
		}
		for range 3 * places {
			c.end("*", job.StatusSucceeded)
		}
		small := map[string]bool{}
		for _, name := range c.began[places:] {
			small[name] = small[name] || name != "big"
		}
		if delete(small, "big"); len(small) != 99 || len(c.began) != 4*places {
			t.Errorf("of %d runs, those of %d small customers have begun", len(c.began), len(small))
		}
	})
	t.Run("who asks later begins within three places", func(t *testing.T) {
		c := newCustomers(t, o)
		for range 15_000 {
			c.ask("big")
		}
		c.goOn()
		for i := range 99 {
			name := strconv.Itoa(i)
			c.ask(name)
			c.goOn()
			before := len(c.began)
			for range 3 {
				c.end("big", job.StatusSucceeded)
			}
			if got := strings.Join(c.began[before:], " "); !strings.Contains(got, name) {
				t.Fatalf("of %s the next places went to %s", name, got)
			}
			c.end(name, job.StatusSucceeded)
		}
	})
}

// TestAnEndCostsNoMoreWhenManyRunsAreQueued: with as many as fit, it allocates less than a pointer for each of them.
func TestAnEndCostsNoMoreWhenManyRunsAreQueued(t *testing.T) {
	const queued, ends = 15_000, 20
	c := newCustomers(t, job.Overlap{Policy: job.OverlapQueue, Key: "${params.customer}", Queue: job.MaxQueue})
	c.edit(func(v *job.Version) { v.StartWithin = job.Duration(time.Hour) })
	for range queued {
		c.ask("big")
	}
	c.goOn()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range ends {
		c.end("big", job.StatusSucceeded)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / ends; got > 8*queued || len(c.began) != ends+1 {
		t.Errorf("an end allocates %d bytes; %d runs have begun", got, len(c.began))
	}
}

func TestASuccessorKnowsTheKeysOfRuns(t *testing.T) {
	o := byCustomer
	o.Total = 2
	c := newCustomers(t, o)
	c.ask("ann", "ann", "bob", "cid", "ann")
	c.goOn()
	c.said = nil
	c.takeOver(c.version)
	c.ask("bob", "dan")
	c.goOn()
	c.wantSaid("bob queued: it waits for run of bob, which has the same overlap key",
		"dan queued: it waits for a place: as many runs are alive as the total of all overlap keys allows")
	for range 7 {
		c.end("*", job.StatusSucceeded)
	}
	if got, want := strings.Join(c.began, " "), "ann bob ann cid bob dan ann"; got != want {
		t.Errorf("they began in the order %s, want %s", got, want)
	}
}

func TestAnEditOfTheKeyCountsForLaterRuns(t *testing.T) {
	c := newCustomers(t, job.Overlap{Policy: job.OverlapQueue})
	c.ask("ann", "bob")
	c.goOn()
	c.edit(func(v *job.Version) { v.Overlap.Key = "${params.customer}" })
	c.goOn()
	c.ask("bob", "bob")
	c.goOn()
	c.wantSaid("ann pending", "bob queued: it waits for 1 earlier run", "bob pending", "bob queued: it waits for run of bob, which has the same overlap key")
	c.edit(func(v *job.Version) { v.Overlap.Key = "" })
	c.ask("cid")
	c.goOn()
	c.wantSaid("cid queued: it waits for 4 earlier runs")
	c.end("ann", job.StatusSucceeded)
	c.wantSaid()
	for range 4 {
		c.end("*", job.StatusSucceeded)
	}
	if got, want := strings.Join(c.began, " "), "ann bob bob bob cid"; got != want {
		t.Errorf("they began in the order %s, want %s", got, want)
	}
	if n := len(c.m.runs.byJob); n != 0 {
		t.Errorf("runs of %d jobs are kept", n)
	}
}

func TestAHigherLimitOfAKeyCountsAtOnce(t *testing.T) {
	c := newCustomers(t, byCustomer)
	c.ask("ann", "ann", "ann")
	c.goOn()
	c.said = nil
	c.edit(func(v *job.Version) { v.Overlap.Limit = 2 })
	c.goOn()
	c.wantSaid("ann pending: it was queued for 0s")
}

func TestQueuedRunsOfAKeyExpireAndEndWithTheirJob(t *testing.T) {
	c := newCustomers(t, byCustomer)
	c.edit(func(v *job.Version) { v.StartWithin = job.Duration(time.Minute) })
	c.ask("ann", "bob")
	c.goOn()
	for _, id := range c.open { // they begin in time
		c.seq++
		c.m.Event(&bus.Event{Kind: bus.EventStarted, Job: "g/a", RunID: id, Attempt: 1}, c.seq, noon.UnixMilli())
	}
	c.ask("ann", "bob")
	c.clock = 30 * time.Second
	c.ask("ann")
	c.goOn()
	c.said = nil
	if at, _ := c.m.NextAt(noon.Add(c.clock).UnixMilli()); at > noon.Add(90*time.Second).UnixMilli() {
		t.Errorf("the machine looks at %s", instant(at))
	}
	c.clock = 90 * time.Second
	c.goOn()
	c.wantSaid("ann missed: it was queued for longer than 1m", "ann missed: it was queued for longer than 1m", "bob missed: it was queued for longer than 1m")
	c.ask("ann", "bob")
	c.goOn()
	c.said = nil
	c.edit(func(v *job.Version) { v.Deleted = true })
	c.goOn()
	c.wantSaid("ann cancelled: the job was deleted while the run was queued", "bob cancelled: the job was deleted while the run was queued")
}

// TestAJobWithoutAKeyKeepsItsItems: nothing about keys is in them.
func TestAJobWithoutAKeyKeepsItsItems(t *testing.T) {
	c := newCustomers(t, job.Overlap{Policy: job.OverlapQueue})
	c.ask("ann", "bob")
	c.goOn()
	lanes := 0
	for _, d := range c.trig.deferred {
		data, err := json.Marshal(d)
		if err != nil || strings.Contains(string(data), `"lane"`) {
			t.Errorf("%s, %v", data, err)
		}
	}
	c.edit(func(v *job.Version) { v.Overlap.Key = "${params.customer}" })
	c.ask("cid")
	c.goOn()
	for _, d := range c.trig.deferred {
		if d.Lane != "" {
			lanes++
		}
		if strings.Contains(d.Lane, "cid") {
			t.Errorf("the item has the key itself: %s", d.Lane)
		}
	}
	if lanes != 1 {
		t.Errorf("%d items have a lane", lanes)
	}
}

func TestRunsOfAWorkflowOverlapByKey(t *testing.T) {
	c := newCustomers(t, byCustomer)
	c.edit(func(v *job.Version) {
		v.Task = job.Task{}
		v.Steps = []job.Step{after("one")}
		v.Params = json.RawMessage(`{"customer":"${fire_time|yyyy}"}`)
	})
	c.ask("ann", "ann", "2026")
	c.askWith("own", nil)
	c.goOn()
	got := map[string]int{}
	for _, line := range c.said {
		name, rest, _ := strings.Cut(line, " ")
		status, _, _ := strings.Cut(rest, ":")
		got[name+" "+status]++
	}
	if got["ann queued"] != 1 || got["2026 queued"] != 0 || got["own queued"] != 1 {
		t.Errorf("decided %q", c.said)
	}
}
