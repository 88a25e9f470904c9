package bench

import (
	"context"
	"errors"
	"testing"
)

func TestTheRawRunsEndWhenTheirMessagesCannotBePublished(t *testing.T) {
	w, err := newBenchWorld(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	why := errors.New("ctrl-c")
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		for last := uint64(0); last == 0 && t.Context().Err() == nil; {
			last, _ = w.conn.LastSeq(t.Context(), "RAW") // the stream is not there at first
		}
		stop(why)
	}()
	if _, _, err := w.rawRuns(ctx, 100_000_000); !errors.Is(err, why) {
		t.Errorf("%v; want %v", err, why)
	}
}

func TestTheRawStartsCountEachMessageFromItsOwnSecond(t *testing.T) {
	w, err := newBenchWorld(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	const n, seconds = 20, 2
	late, err := w.rawStarts(t.Context(), n, seconds)
	if err != nil {
		t.Fatal(err)
	}
	if len(late.all) != n*seconds {
		t.Errorf("%d messages were counted, want %d", len(late.all), n*seconds)
	}
	for i, ms := range late.all {
		if ms < 0 {
			t.Errorf("message %d was there %v ms before its second", i, -ms)
		}
	}
}
