package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/job"
)

// kept returns a ping of a job, with an output.
func kept(name job.Name, output string) *Kept {
	k := &Kept{Ping: *ping.New(name, ping.End, "run"), Happened: Now()}
	k.Output = []byte(output)
	return k
}

// sent flushes a spool, and returns the jobs of what was sent with the sizes of their outputs.
func sent(t *testing.T, s *Spool) (all []string) {
	t.Helper()
	_, err := s.Flush(t.Context(), MaxFiles, func(_ context.Context, k *Kept) error {
		all = append(all, fmt.Sprint(k.Job, " ", len(k.Output)))
		return nil
	}, func(text string) { t.Error(text) })
	if err != nil {
		t.Error(err)
	}
	return all
}

func put(t *testing.T, s *Spool, k *Kept) {
	t.Helper()
	if err := s.Put(k); err != nil {
		t.Fatal(err)
	}
}

func TestPingsAreSentAsTheyWereAndInOrder(t *testing.T) {
	s := At(filepath.Join(t.TempDir(), "a", "b"))
	for i := range 12 {
		put(t, s, kept(job.Name(fmt.Sprintf("ops/j%d", i)), "line\n\nline \xff"))
	}
	i := 0
	_, err := s.Flush(t.Context(), 10, func(_ context.Context, k *Kept) error {
		if string(k.Job) != fmt.Sprintf("ops/j%d", i) || string(k.Output) != "line\n\nline \xff" || k.Run != "run" || k.ID == "" {
			t.Errorf("ping %+v", k)
		}
		i++
		return nil
	}, nil)
	left, _ := s.Len()
	if err != nil || i != 10 || left != 2 {
		t.Errorf("%d are sent, %d are left, %v", i, left, err)
	}
}

func TestAFullSpoolLosesOutputFirstThenTheOldest(t *testing.T) {
	s := At(t.TempDir())
	s.maxFiles, s.maxBytes = 4, 40_000
	for i := range 4 {
		put(t, s, kept(job.Name(fmt.Sprintf("ops/j%d", i)), strings.Repeat("x", 10_000)))
	}
	if n := s.Lost(); n != 0 {
		t.Errorf("%d are lost", n)
	}
	for i := range 3 {
		put(t, s, kept(job.Name(fmt.Sprintf("ops/k%d", i)), "y"))
	}
	if n := s.Lost(); n != 3 {
		t.Errorf("%d are lost", n)
	}
	if got := fmt.Sprint(sent(t, s)); got != "[ops/j3 10000 ops/k0 1 ops/k1 1 ops/k2 1]" {
		t.Error(got)
	}
	s.Told()
	if n := s.Lost(); n != 0 {
		t.Errorf("%d are lost", n)
	}

	for i := range 4 {
		put(t, s, kept(job.Name(fmt.Sprintf("ops/j%d", i)), strings.Repeat("x", 15_000)))
	}
	if got := fmt.Sprint(sent(t, s), s.Lost()); got != "[ops/j0 0 ops/j1 0 ops/j2 15000 ops/j3 15000] 0" {
		t.Error(got)
	}
}

func TestAServerThatIsAwayStopsTheFlushAndARefusalDoesNot(t *testing.T) {
	s := At(t.TempDir())
	for _, name := range []job.Name{"ops/refused", "ops/sent", "ops/away", "ops/later"} {
		put(t, s, kept(name, ""))
	}
	away := errors.New("away")
	var asked []job.Name
	flush := func() {
		t.Helper()
		n, err := s.Flush(t.Context(), AtOnce, func(_ context.Context, k *Kept) error {
			asked = append(asked, k.Job)
			switch k.Job {
			case "ops/refused":
				return &ping.RefusedError{Status: 404, Reason: "no"}
			case "ops/away":
				return away
			}
			return nil
		}, func(text string) { t.Error(text) })
		if !errors.Is(err, away) {
			t.Errorf("%d are sent, %v", n, err)
		}
	}
	flush()
	flush() // what was refused comes last from now on
	if got := fmt.Sprint(asked); got != "[ops/refused ops/sent ops/away ops/away]" {
		t.Error(got)
	}
}

func TestAJobOfWhichThereWereTooManyPingsHoldsUpNoOther(t *testing.T) {
	s := At(t.TempDir())
	for range 5 {
		put(t, s, kept("ops/busy", ""))
	}
	put(t, s, kept("ops/x", ""))
	var asked []job.Name
	n, err := s.Flush(t.Context(), 2, func(_ context.Context, k *Kept) error {
		asked = append(asked, k.Job)
		if k.Job == "ops/busy" {
			return &ping.BusyError{Reason: "too many"}
		}
		return nil
	}, func(text string) { t.Error(text) })
	if left, _ := s.Len(); n != 1 || err != nil || left != 5 || fmt.Sprint(asked) != "[ops/busy ops/x]" {
		t.Errorf("%d are sent, %v, %d are left, asked for %v", n, err, left, asked)
	}
}

func TestOneProcessSendsAtATime(t *testing.T) {
	s := At(t.TempDir())
	put(t, s, kept("ops/x", ""))
	n, err := s.Flush(t.Context(), AtOnce, func(context.Context, *Kept) error {
		if got := sent(t, At(s.dir)); len(got) != 0 {
			t.Errorf("another sends %v", got)
		}
		return nil
	}, nil)
	if n != 1 || err != nil {
		t.Error(n, err)
	}
}

func TestADamagedFileIsDroppedAndHalfOfOneIsNotSeen(t *testing.T) {
	s := At(t.TempDir())
	put(t, s, kept("ops/x", "whole"))
	for name, text := range map[string]string{"0-a.ping": `{"job":`, "1-b.ping": "", "2-c.tmp": `{"job":"ops/half"`, "3-d.tmp": "old"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(filepath.Join(s.dir, "3-d.tmp"), old, old); err != nil {
		t.Fatal(err)
	}
	var dropped []string
	n, err := s.Flush(t.Context(), AtOnce, func(context.Context, *Kept) error { return nil }, func(text string) { dropped = append(dropped, text) })
	if n != 1 || err != nil || fmt.Sprint(dropped) != "[dropped a ping: 0-a.ping is damaged dropped a ping: 1-b.ping is damaged]" {
		t.Errorf("%d are sent, %v, %q", n, err, dropped)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*.*")); fmt.Sprint(left) != fmt.Sprint([]string{s.dir + "/2-c.tmp", s.dir + "/send.lock"}) {
		t.Errorf("left: %v", left)
	}
}

func TestAProcessThatIsKilledWhileItWritesKeepsWholePings(t *testing.T) {
	const variable = "SPOOL_TO_FILL"
	if dir := os.Getenv(variable); dir != "" {
		s := At(dir)
		for {
			if err := s.Put(kept("ops/x", strings.Repeat("x", ping.MaxOutput))); err != nil {
				t.Fatal(err)
			}
			_, _ = os.Stdout.WriteString(".")
		}
	}
	s := At(t.TempDir())
	for i := range 20 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), variable+"="+s.dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1+i)); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		got := sent(t, s)
		for _, k := range got {
			if k != fmt.Sprint("ops/x ", ping.MaxOutput) {
				t.Errorf("ping %s", k)
			}
		}
		if len(got) < 1+i {
			t.Errorf("%d pings of %d are there", len(got), 1+i)
		}
	}
}

func TestTheAgeSurvivesAStepOfTheClockAndABoot(t *testing.T) {
	at := Instant{Wall: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC), Boot: "a", Since: time.Hour}
	f := func(now Instant, want time.Duration) {
		t.Helper()
		if got := at.until(now); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	f(Instant{Wall: at.Wall.AddDate(1, 0, 0), Boot: "a", Since: time.Hour + time.Minute}, time.Minute)
	f(Instant{Wall: at.Wall.AddDate(-1, 0, 0), Boot: "a", Since: time.Hour + time.Minute}, time.Minute)
	f(Instant{Wall: at.Wall.Add(time.Hour), Boot: "b", Since: time.Second}, time.Hour)
	f(Instant{Wall: at.Wall.Add(-time.Hour), Boot: "b", Since: time.Second}, 0)
	at.Boot = ""
	f(Instant{Wall: at.Wall.Add(time.Hour)}, time.Hour)
}
