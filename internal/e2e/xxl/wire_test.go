//go:build unix

package xxl

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

var update = flag.Bool("update", false, "write what executors send into testdata")

// trigger is a run, as an admin hands it to an executor.
type trigger struct {
	JobID       int    `json:"jobId"`
	Handler     string `json:"executorHandler"`
	Params      string `json:"executorParams"`
	Block       string `json:"executorBlockStrategy"`
	Timeout     int    `json:"executorTimeout"`
	LogID       int64  `json:"logId"`
	LogDateTime int64  `json:"logDateTime"`
	GlueType    string `json:"glueType"`
	GlueSource  string `json:"glueSource"`
	GlueUpdated int64  `json:"glueUpdatetime"`
	Index       int    `json:"broadcastIndex"`
	Total       int    `json:"broadcastTotal"`
}

// began is when all runs of these tests were handed over: 2026-06-20, in UTC and around it.
const began = 1781956800000

func bean(id int64, handler, params string) trigger {
	return trigger{JobID: int(id), Handler: handler, Params: params, Block: "SERIAL_EXECUTION", LogID: id, LogDateTime: began, GlueType: "BEAN", GlueUpdated: began, Total: 1}
}

// TestExecutorsSendWhatIsInTestdata has one conversation with each executor, and compares all that
// it says with what it has said before.
func TestExecutorsSendWhatIsInTestdata(t *testing.T) {
	for _, k := range slices.Compact(append(tested(), goClient)) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			admin := newRecorder(t)
			p := newPeer(t, k, settings{admin: admin.URL, appname: "golden", token: "a-token"})
			p.Begin(t)
			c := conversation{t: t, peer: p, admin: admin, said: map[string][]byte{}}
			c.hold()
			c.compare()
		})
	}
}

type conversation struct {
	t     *testing.T
	peer  *peer
	admin *recorder
	said  map[string][]byte // by the file's name
}

func (c *conversation) hold() {
	c.t.Helper()
	registry := c.admin.await(c.t, "/api/registry", anyMessage)
	c.said["registry.json"] = registry.body
	c.said["headers.txt"] = headers(registry.header)

	c.ask("beat-answer.json", "/beat", "")
	c.ask("idle-beat-answer.json", "/idleBeat", map[string]int{"jobId": 1})
	c.ask("run-answer.json", c.peer.kind.runPath(), bean(101, "success", "你好, \"world\""))
	c.said["callback.json"] = c.admin.callback(c.t, 101).body
	c.askLog("log-answer.json", 101)
	c.ask("log-answer-end.json", "/log", map[string]any{"logId": 101, "logDateTim": began, "logDateTime": began, "fromLineNum": 1000})
	c.ask("log-answer-unknown.json", "/log", map[string]any{"logId": 999, "logDateTim": began, "logDateTime": began, "fromLineNum": 1})

	c.ask("run-answer-unknown-handler.json", c.peer.kind.runPath(), bean(102, "nobody", ""))
	c.run("callback-failure.json", bean(103, "failure", "磁盘已满"))
	c.run("callback-exception.json", bean(104, "exception", "oops"))
	late := bean(105, "slow", "60000")
	late.Timeout = 1
	c.run("callback-timeout.json", late)

	c.peer.mustAsk(c.t, c.peer.kind.runPath(), bean(106, "slow", "60000 killed"))
	c.awaitStart("60000 killed")
	c.ask("idle-beat-answer-busy.json", "/idleBeat", map[string]int{"jobId": 106})
	discarded := bean(106, "slow", "60000 discarded")
	discarded.LogID, discarded.Block = 107, "DISCARD_LATER"
	c.ask("run-answer-discard.json", c.peer.kind.runPath(), discarded)
	queued := bean(106, "slow", "60000 queued")
	queued.LogID = 108
	c.ask("run-answer-serial.json", c.peer.kind.runPath(), queued)
	c.ask("kill-answer.json", "/kill", map[string]int{"jobId": 106})
	c.said["callback-killed.json"] = alone(c.t, c.admin.callback(c.t, 106), 106)
	c.ask("kill-answer-none.json", "/kill", map[string]int{"jobId": 999})
	if c.said["run-answer-serial.json"] != nil && strings.Contains(string(c.said["run-answer-serial.json"]), `"code":200`) {
		c.said["callback-killed-queued.json"] = alone(c.t, c.admin.callback(c.t, 108), 108)
	}

	shell := trigger{
		JobID: 109, LogID: 109, LogDateTime: began, Block: "SERIAL_EXECUTION", GlueType: "GLUE_SHELL", GlueUpdated: began, Params: "a b", Index: 1, Total: 3,
		GlueSource: "echo \"$1|$2|$3\"\nexit 7",
	}
	c.ask("run-answer-shell.json", c.peer.kind.runPath(), shell)
	if strings.Contains(string(c.said["run-answer-shell.json"]), `"code":200`) {
		c.said["callback-shell.json"] = c.admin.callback(c.t, 109).body
		c.askLog("log-answer-shell.json", 109)
	}
	bad := shell
	bad.LogID, bad.JobID, bad.GlueType = 110, 110, "GLUE_COBOL"
	c.ask("run-answer-unknown-glue.json", c.peer.kind.runPath(), bad)

	if c.peer.kind != goClient { // whose callbacks name the wrong run when a handler has two
		c.tryLimits()
	}

	wrong, err := c.peer.askWith(c.t, "wrong", "/beat", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.said["beat-answer-wrong-token.json"] = wrong.Body
	c.ask("answer-unknown-path.json", "/nowhere", nil)

	c.peer.Terminate()
	c.said["registry-remove.json"] = c.admin.await(c.t, "/api/registryRemove", anyMessage).body
}

// stubborn is how long a handler works that does not listen, in milliseconds.
const stubborn = "1500"

// tryLimits looks at what becomes of runs that do not end when they have to, and of runs that come
// twice, and keeps it as behaviour.txt.
func (c *conversation) tryLimits() {
	c.t.Helper()
	var lines strings.Builder
	note := func(format string, args ...any) { fmt.Fprintf(&lines, format+"\n", args...) }
	run := func(id, logID int64, handler, params string, change func(*trigger)) reply {
		tr := bean(id, handler, params)
		tr.LogID = logID
		if change != nil {
			change(&tr)
		}
		return c.peer.mustAsk(c.t, c.peer.kind.runPath(), tr)
	}
	idle := func(id int) int { return c.peer.mustAsk(c.t, "/idleBeat", map[string]int{"jobId": id}).Outcome.Code }

	late := stubborn + " timeout"
	run(201, 201, "stubborn", late, func(tr *trigger) { tr.Timeout = 1 })
	c.admin.callback(c.t, 201)
	note("timeout: called back while the handler works: %v; idle then: %d", !c.hasEnded(late), idle(201))

	killed := stubborn + " kill"
	run(202, 202, "stubborn", killed, nil)
	c.awaitStart(killed)
	c.peer.mustAsk(c.t, "/kill", map[string]int{"jobId": 202})
	note("kill: idle at once: %d", idle(202))
	run(202, 203, "stubborn", "0 next", nil)
	c.admin.callback(c.t, 203)
	note("kill: the next run has ended while the killed one works: %v", !c.hasEnded(killed))
	c.admin.callback(c.t, 202)
	note("kill: called back when the killed one has ended: %v", c.hasEnded(killed))

	run(204, 204, "slow", "300 twice", nil)
	c.awaitStart("300 twice")
	note("the same run again, while it happens: %s", bytes.TrimSpace(run(204, 204, "slow", "300 twice", nil).Body))
	note("the same run again, while it waits: %s", bytes.TrimSpace(run(204, 204, "slow", "300 twice", nil).Body))
	c.admin.callback(c.t, 204)

	run(205, 205, "slow", "60000 covered", nil)
	c.awaitStart("60000 covered")
	run(205, 206, "slow", "0 covers", func(tr *trigger) { tr.Block = "COVER_EARLY" })
	note("covered: %s", alone(c.t, c.admin.callback(c.t, 205), 205))

	run(207, 207, "slow", "60000 other", nil)
	c.awaitStart("60000 other")
	run(207, 208, "success", "", nil)
	note("another handler for the job: %s", alone(c.t, c.admin.callback(c.t, 207), 207))
	c.said["behaviour.txt"] = []byte(lines.String())
}

func (c *conversation) hasEnded(param string) bool {
	c.t.Helper()
	return slices.ContainsFunc(c.peer.witnessed(c.t), func(l line) bool { return l.what == "end" && l.param == param })
}

// ask keeps the answer to a question.
func (c *conversation) ask(file, path string, body any) {
	c.t.Helper()
	c.said[file] = c.peer.mustAsk(c.t, path, body).Body
}

// askLog keeps the log of a run that has ended. Executors in Java add a line when the admin has
// thanked for the callback.
func (c *conversation) askLog(file string, id int64) {
	c.t.Helper()
	processtest.Await(c.t, processtest.Patience, "wait for the last line of the log", func() error {
		c.ask(file, "/log", map[string]any{"logId": id, "logDateTim": began, "logDateTime": began, "fromLineNum": 1})
		if c.peer.kind.java && !strings.Contains(string(c.said[file]), "callback finish") {
			return os.ErrNotExist
		}
		return nil
	})
}

// alone returns a list of one of the callbacks of m: which others come with it is chance.
func alone(t *testing.T, m message, id int64) []byte {
	t.Helper()
	var list []json.RawMessage
	before, after := "[", "]"
	if json.Unmarshal(m.body, &list) != nil { // dialect C has an object around it
		var object struct {
			List []json.RawMessage `json:"callbackList"`
		}
		if err := json.Unmarshal(m.body, &object); err != nil {
			t.Fatalf("%v: %s", err, m.body)
		}
		list, before, after = object.List, `{"callbackList":[`, "]}"
	}
	i := slices.IndexFunc(list, func(c json.RawMessage) bool {
		return strings.Contains(string(c), fmt.Sprintf(`"logId":%d,`, id)) || strings.Contains(string(c), fmt.Sprintf(`"logId":%d}`, id))
	})
	return slices.Concat([]byte(before), list[i], []byte(after))
}

// run keeps the callback of a run.
func (c *conversation) run(file string, tr trigger) {
	c.t.Helper()
	if r := c.peer.mustAsk(c.t, c.peer.kind.runPath(), tr); r.Outcome.Code != http.StatusOK {
		c.t.Fatalf("a run is answered by %s", r.Body)
	}
	c.said[file] = c.admin.callback(c.t, tr.LogID).body
}

func (c *conversation) awaitStart(param string) {
	c.t.Helper()
	processtest.Await(c.t, processtest.Patience, "wait for a run to begin", func() error {
		for _, l := range c.peer.witnessed(c.t) {
			if l.what == "start" && l.param == param {
				return nil
			}
		}
		return os.ErrNotExist
	})
}

// headers returns those that do not change, a line each.
func headers(h http.Header) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name != "Content-Length" && name != "User-Agent" {
			b.WriteString(name + ": " + strings.Join(h[name], ", ") + "\n")
		}
	}
	return b.Bytes()
}

// fleeting is what differs from one conversation to the next.
var fleeting = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:9999"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`), "2026-06-20 12:00:00"},
	{regexp.MustCompile(`Thread-\d+(-\d+)?`), "Thread-1"},
	{regexp.MustCompile(`/[^"\\ ]*/logs/`), "/logs/"},
	{regexp.MustCompile(`(\\n\\tat [^"\\]+)+(\\n\\t\.\.\. \d+ more)?`), `\n\tat a.b.C.d(C.java:1)`}, // the JDK's frames differ
	{regexp.MustCompile(`\]-\[\d+\]-\[`), "]-[1]-["},
}

func settled(message []byte) []byte {
	for _, f := range fleeting {
		message = f.pattern.ReplaceAll(message, []byte(f.instead))
	}
	return message
}

// compare compares what was said with the files.
func (c *conversation) compare() {
	c.t.Helper()
	dir := filepath.Join("testdata", c.peer.kind.name)
	if *update {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.said)) {
		got := settled(c.said[name])
		if *update {
			if err := os.WriteFile(filepath.Join(dir, name), got, 0o600); err != nil {
				c.t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(readIfThere(c.t, filepath.Join(dir, name))), string(got)); diff != "" {
			c.t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
