//go:build unix

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// member is an executor of the crew, written in one of the languages.
type member struct {
	*processtest.Process
	killed, back time.Time // when it was killed, and when it was online again
}

// crew is executors with the same handlers (package load), one for each way to write them, in one
// group. Each is named for its language.
type crew struct {
	c       *system
	group   string
	members []*member
}

// languages returns how to start each executor. A language whose program has not been built, or
// has nothing to run it with, is left out; CI leaves nothing out.
func languages(t *testing.T) map[string][]string {
	t.Helper()
	at := func(path ...string) string {
		abs, err := filepath.Abs(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	python, js, java := at(".cache/python/bin/python"), at("sdk/typescript/.build/test/load.js"), at("sdk/java/carillon-executor/target/test.classpath")
	all := map[string][]string{"go": {processtest.Program(t, "load")}}
	for _, l := range []struct {
		name, needs, runs string
		command           []string
	}{
		{"python", python, python, []string{python, at("sdk/python/tests/load.py")}},
		{"typescript", js, "node", []string{"node", js}},
		{"java", java, "java", []string{at("sdk/java/load.sh")}},
		{"worker", at("internal/e2e/load/worker.py"), "python3", []string{processtest.Program(t, "carillon"), "executor", "--allow", "handler", "--worker", "exec python3 " + at("internal/e2e/load/worker.py")}},
	} {
		_, err := os.Stat(l.needs)
		if err == nil {
			_, err = exec.LookPath(l.runs)
		}
		switch {
		case err == nil:
			all[l.name] = l.command
		case os.Getenv("CI") != "":
			t.Errorf("%s is left out: %v; the tasks sdk:… build what it needs", l.name, err)
		default:
			t.Logf("LEFT OUT: %s, because of: %v (the tasks sdk:… build what it needs)", l.name, err)
		}
	}
	return all
}

// startCrew starts an executor in each language, and waits until all are online.
func (c *system) startCrew(group string) *crew {
	c.t.Helper()
	w := &crew{c: c, group: group}
	for name, command := range languages(c.t) {
		p := processtest.New(c.t, name, []string{"JOURNAL=" + c.journal, "CARILLON_GROUP=" + group, "CARILLON_NATS=" + c.url, "CARILLON_INSTANCE=" + name, "CARILLON_SLOTS=32"}, command...)
		p.Begin(c.t)
		c.executors = append(c.executors, p) // so that brokenOff reads what they say
		w.members = append(w.members, &member{Process: p})
	}
	for _, m := range w.members {
		w.awaitOnline(m, time.Time{})
	}
	return w
}

// awaitOnline waits until an executor that has begun after an instant is online.
func (w *crew) awaitOnline(m *member, after time.Time) {
	w.c.t.Helper()
	processtest.Await(w.c.t, processtest.Patience, "wait for the executor "+m.Name, func() error {
		if err := m.Alive(); err != nil {
			w.c.t.Fatal(err)
		}
		groups, err := client.Read[client.GroupList](w.c.api.ListGroups(w.c.t.Context()))
		if err != nil {
			return err
		}
		for _, g := range groups.Items {
			for i := range g.Instances {
				if n := &g.Instances[i]; g.ExecutorGroup == w.group && n.Instance == m.Name && n.State == fleet.InstanceOnline && n.StartedAt.After(after) {
					return nil
				}
			}
		}
		return errors.New("it is not online")
	})
}

// killEach kills the executors one after the other, as a crash does, and waits each time until it
// is online again under the same name. In the middle it restarts NATS.
func (w *crew) killEach() {
	w.c.t.Helper()
	for i, m := range w.members {
		if i == len(w.members)/2 {
			w.restartNATS()
		}
		m.killed = time.Now()
		m.Kill()
		m.Begin(w.c.t)
		w.awaitOnline(m, m.killed)
		m.back = time.Now()
		w.c.t.Logf("%s was killed, and is online again after %s", m.Name, m.back.Sub(m.killed).Round(100*time.Millisecond))
	}
}

// restartNATS stops the NATS server as an upgrade does, and starts it again.
func (w *crew) restartNATS() {
	w.c.t.Helper()
	server := w.c.nats[0]
	server.Terminate()
	if _, err := server.Wait(processtest.Patience); err != nil {
		w.c.t.Fatal(err)
	}
	server.Begin(w.c.t)
	w.c.awaitReady()
}

// names returns those of the executors.
func (w *crew) names() (names []string) {
	for _, m := range w.members {
		names = append(names, m.Name)
	}
	return names
}
