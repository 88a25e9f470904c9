package executortest_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/executortest"
	"github.com/carillon-scheduler/carillon/job"
)

type page struct {
	At   time.Time `json:"at"`
	Body io.Reader `json:"body"`
	Next *page     `json:"next,omitempty"`
	done chan int
	Skip chan int `json:"-"`
}

func TestAResultThatIsNotDoneFailsItsRun(t *testing.T) {
	f := func(result any, says string) {
		t.Helper()
		end := executortest.Do(t, "h", executortest.Run{}, func(e *executor.Executor) {
			e.Handle("h", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return result, nil }))
		})
		if says == "" {
			if end.Status != job.StatusSucceeded || end.Message != "" {
				t.Errorf("%s: %s", end.Status, end.Message)
			}
			return
		}
		if want := "the handler returned unfinished work: " + says + "; finish it in the handler, and return its value"; end.Status != job.StatusFailed || end.Message != want || end.Result != nil {
			t.Errorf("%s: %s\nwant %s", end.Status, end.Message, want)
		}
	}
	f(make(chan int), "the result is a channel (chan int)")
	f(map[string]any{"rows": []any{1, make(<-chan string)}}, "result.rows[1] is a channel (<-chan string)")
	f(slices.Values([]int{1}), "the result is an iterator (iter.Seq[int])")
	f(strings.NewReader("x"), "the result is a stream (*strings.Reader)")
	f(page{Next: &page{Body: new(bytes.Buffer)}}, "result.next.body is a stream (*bytes.Buffer)")
	f(page{done: make(chan int), Skip: make(chan int)}, "")
	shared := []int{1}
	f(map[string]any{"a": shared, "b": shared, "at": time.Now()}, "")
}
