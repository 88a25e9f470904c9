package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestDeferredItemsOfRunsInPiecesAreChecked(t *testing.T) {
	wrong := func(rest, field string) {
		t.Helper()
		_, err := journal.DecodeDeferred(nil, []byte(`{"kind":"pieces","job":"g/a"`+rest+`}`))
		if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != field {
			t.Errorf("%s: %v; want a complaint about %s", rest, err, field)
		}
	}
	wrong(``, "trigger")
	wrong(`,"trigger":{}`, "pieces")
	wrong(`,"trigger":{},"pieces":{"states":"wx"}`, "pieces.states")
	wrong(`,"trigger":{},"pieces":{"states":"`+strings.Repeat("w", bus.MaxPieces+1)+`"}`, "pieces.states")
	wrong(`,"trigger":{},"pieces":{"states":"ww","instances":["a"]}`, "pieces.instances")
	wrong(`,"trigger":{},"pieces":{"states":"ww","items":[1,2,3]}`, "pieces.items")
}

func TestDeferredItemsOfWorkflowsAreChecked(t *testing.T) {
	for rest, field := range map[string]string{
		`"kind":"workflow"`:                      "trigger",
		`"kind":"steps"`:                         "steps",
		`"kind":"steps","steps":{"states":"sx"}`: "steps.states",
		`"kind":"result","result":{"rows":7}`:    "step",
		`"kind":"steps","steps":{"states":"` + strings.Repeat("s", workflow.MaxSteps+1) + `"}`: "steps.states",
	} {
		_, err := journal.DecodeDeferred(nil, []byte(`{"job":"g/a",`+rest+`}`))
		if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != field {
			t.Errorf("%.80s: %v; want a complaint about %s", rest, err, field)
		}
	}
}

func TestALetterIsLaterBySequenceAndByTheOwnerThatLeftIt(t *testing.T) {
	mark := func(ms int64, seq uint64) journal.LetterMark {
		return journal.LetterMark{Made: time.UnixMilli(ms).UTC(), Seq: seq}
	}
	last := mark(1000, 7)
	for _, m := range []journal.LetterMark{mark(1000, 8), mark(1001, 1)} {
		if !m.After(last) {
			t.Errorf("%v does not come after %v", m, last)
		}
	}
	for _, m := range []journal.LetterMark{last, mark(1000, 6), mark(999, 8)} {
		if m.After(last) {
			t.Errorf("%v comes after %v", m, last)
		}
	}
	if !mark(1000, 1).After(journal.LetterMark{}) {
		t.Error("the first letter comes after nothing")
	}
	for _, text := range []string{"", "7", "1000.", ".7", "1000.-7", "x.7", "1000.7.7"} {
		if err := new(journal.LetterMark).UnmarshalText([]byte(text)); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestALetterNamesAShard(t *testing.T) {
	item := `{"kind":"child","job":"g/a","parent":{"job":"g/b"},"letter":{"from":%d,"at":"1000.7"}}`
	for _, from := range []int{-1, bus.MaxShards} {
		_, err := journal.DecodeDeferred(nil, fmt.Appendf(nil, item, from))
		if bad, ok := errors.AsType[*job.InvalidError](err); !ok || bad.Field != "letter.from" {
			t.Errorf("from %d: %v; want a complaint about letter.from", from, err)
		}
	}
	if d, err := journal.DecodeDeferred(nil, fmt.Appendf(nil, item, bus.MaxShards-1)); err != nil || d.Letter.From != bus.MaxShards-1 {
		t.Errorf("%+v, %v", d, err)
	}
}
