package ingest_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// attempts notes the writes of runs that are tried, by token.
type attempts struct {
	mu     sync.Mutex
	tokens []string
}

func (a *attempts) note(token string) {
	if a.mu.Lock(); strings.HasPrefix(token, bus.StreamTrig) || strings.HasPrefix(token, bus.StreamEvt) {
		a.tokens = append(a.tokens, token)
	}
	a.mu.Unlock()
}

func (a *attempts) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.tokens)
}

var errHalf = errors.New("perhaps it is there, perhaps not")

func TestNoRunsAreWrittenWhileItIsUnknownWhatBecameOfAWrite(t *testing.T) {
	run(t, func(w *world) {
		var tried attempts
		var failures int
		w.store.hook(func(token string) error {
			tried.note(token)
			if strings.HasPrefix(token, bus.StreamEvt) && failures < 5 {
				failures++
				return errHalf
			}
			return nil
		}, nil)
		w.start("a")
		w.whole(fire{report, 0})
		time.Sleep(time.Second)
		for n := 1; n < 4; n++ {
			w.whole(fire{report, n})
			time.Sleep(time.Second)
		}
		time.Sleep(30 * time.Second)
		w.wantWhole(0, 3)
		tokens := tried.all()
		first := slices.IndexFunc(tokens, func(token string) bool { return strings.HasPrefix(token, bus.StreamEvt) })
		if len(tokens) < first+8 || failures != 5 {
			t.Fatalf("too few writes were tried: %v", tokens)
		}
		for _, token := range tokens[first : first+6] {
			if token != tokens[first] {
				t.Errorf("a write of %s is tried while nobody knows what became of %s: %v", token, tokens[first], tokens)
			}
		}
		want := slices.Repeat(tokens[first:first+1], 5)
		if diff := cmp.Diff(want, w.store.repeated()); diff != "" {
			t.Errorf("other writes than those of what may be there in part come as repeats (-want +got):\n%s", diff)
		}
	})
}

func TestWhatWasBegunLastIsRepeatedFirst(t *testing.T) {
	for _, last := range []string{bus.StreamTrig, bus.StreamEvt} {
		t.Run(last, func(t *testing.T) {
			run(t, func(w *world) {
				t := w.t
				w.store.hook(func(string) error { return errHalf }, nil)
				a := w.start("a")
				w.finish(fire{report, 0})
				w.record(fire{report, 1})
				time.Sleep(5 * time.Second)
				a.crash()
				kv, err := w.conn.JS.KeyValue(t.Context(), bus.BucketCluster)
				if err != nil {
					t.Fatal(err)
				}
				for _, stream := range []string{bus.StreamTrig, bus.StreamEvt, last} { // as if both had been begun
					if _, err := kv.PutString(t.Context(), "ingest."+stream, `{"first":1,"last":1,"count":1}`); err != nil {
						t.Fatal(err)
					}
				}

				var tried attempts
				w.store.hook(func(token string) error { tried.note(token); return nil }, nil)
				w.start("b")
				time.Sleep(2 * leaseEnd)
				w.wantRows(2)
				if tokens := tried.all(); len(tokens) != 2 || tokens[0] != last+":1-1" {
					t.Errorf("tried were %v; want %s:1-1 first, and the other", tokens, last)
				}
				if again := w.store.repeated(); len(again) < 2 || !slices.Equal(again[len(again)-2:], tried.all()) {
					t.Errorf("as repeats came %v; want all that another may have begun: %v", again, tried.all())
				}
				if runs, err := w.store.Run(t.Context(), fire{report, 0}.id()); err != nil || runs[0].Status != job.StatusSucceeded {
					t.Errorf("the run is %+v, with %v", runs, err)
				}
			})
		})
	}
}
