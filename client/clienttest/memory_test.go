package clienttest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/client"
	"github.com/carillon-scheduler/carillon/client/clienttest"
)

func TestTheMemoryKeepsWhatWasAskedForAndEndsItAsTheTestWants(t *testing.T) {
	memory := clienttest.New()
	c, at := memory.Client(), time.Date(2027, 1, 6, 9, 0, 0, 0, time.UTC)
	memory.End("mail/welcome", client.Failed, map[string]int{"sent": 3})
	run, err := c.Run(t.Context(), "mail/welcome", map[string]int{"user": 42}, client.Expires(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	end, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Sent int }
	if err := end.Decode(&result); err != nil || end.Status != client.Failed || result.Sent != 3 {
		t.Errorf("the end is %+v with %+v: %v", end, result, err)
	}
	if err := run.Cancel(t.Context(), ""); !errors.Is(err, client.ErrEnded) {
		t.Errorf("cancelled after its end: %v", err)
	}

	later, err := c.Run(t.Context(), "mail/welcome", nil, client.At(at))
	if err != nil || !later.Due.Equal(at) || later.Status != client.Queued {
		t.Fatalf("the run at an instant is %+v: %v", later, err)
	}
	for wait := range 2 {
		var ids []string
		for r, err := range c.Waiting(t.Context(), "mail/welcome") {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		if len(ids) != 1-wait {
			t.Fatalf("%v wait in round %d", ids, wait)
		}
		if err := later.Cancel(t.Context(), "typo"); (err == nil) != (wait == 0) {
			t.Fatalf("cancel in round %d: %v", wait, err)
		}
	}
	if end, err := later.Wait(t.Context()); err != nil || end.Status != client.Cancelled || !errors.Is(end.Decode(&result), client.ErrNoResult) {
		t.Errorf("the cancelled run is %+v: %v", end, err)
	}

	wishes := memory.Wishes()
	if len(wishes) != 2 || wishes[0].Job != "mail/welcome" || string(wishes[0].Params) != `{"user":42}` || wishes[0].Expires != "3600s" || !wishes[1].At.Equal(at) {
		t.Errorf("the wishes are %+v", wishes)
	}
	if _, err := c.Status(t.Context(), "other"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestTheMemoryMakesOneRunForAKey(t *testing.T) {
	memory := clienttest.New()
	c := memory.Client()
	ask := func(key string, user int, options ...client.Option) (*client.Run, error) {
		return c.Run(t.Context(), "mail/welcome", map[string]int{"user": user}, append(options, client.Key(key))...)
	}
	first, err := ask("ada", 1, client.In(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ask("ada", 1); err != nil || again.ID != first.ID || !again.Existed || again.Status != client.Queued {
		t.Errorf("again: %+v, %v", again, err)
	}
	_, err = ask("ada", 2)
	if e, ok := errors.AsType[*client.Error](err); !ok || !errors.Is(err, client.ErrKeyInUse) || e.RunID != first.ID || len(e.Fields) != 1 || e.Fields[0] != "params" {
		t.Errorf("other params: %+v", err)
	}
	if _, err = ask("ada", 1, client.Reset()); !errors.Is(err, client.ErrKeyInUse) {
		t.Errorf("reset while it waits: %v", err)
	}
	if err := c.CancelKey(t.Context(), "mail/welcome", "ada", ""); err != nil {
		t.Fatal(err)
	}
	if err := c.CancelKey(t.Context(), "mail/welcome", "bob", ""); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("cancel of a key without a run: %v", err)
	}
	if reset, err := ask("ada", 2, client.Reset()); err != nil || reset.ID == first.ID || reset.Existed {
		t.Errorf("reset: %+v, %v", reset, err)
	}
	many, err := c.RunMany(t.Context(), []client.RunRequest{
		{Job: "mail/welcome", Options: []client.Option{client.Key("bob")}},
		{Job: "mail/welcome", Options: []client.Option{client.Key("bob")}},
		{Job: "mail/welcome", Params: 1, Options: []client.Option{client.Key("bob")}},
	})
	if err != nil || many[0].Run.ID != many[1].Run.ID || !errors.Is(many[2].Err, client.ErrKeyInUse) {
		t.Errorf("many: %+v, %v", many, err)
	}
	if wishes := memory.Wishes(); len(wishes) != 3 || wishes[0].Key != "ada" {
		t.Errorf("the wishes are %+v", wishes)
	}
}
