package sdk_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func TestASecretIsMaskedHoweverJSONEscapesIt(t *testing.T) {
	const secret = `pä/ss"w+rd<€`
	for language, escaped := range map[string]string{
		"Go":         `pä/ss\"w+rd\u003c€`,
		"JavaScript": `pä/ss\"w+rd<€`,
		"Python":     `p\u00e4/ss\"w+rd<\u20ac`,
		"PHP":        `p\u00e4\/ss\"w+rd<\u20ac`,
		".NET":       `p\u00E4/ss\u0022w\u002Brd\u003C\u20AC`,
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			w.sealed("db", secret)
			w.start("a", executor.Config{SecretKey: master.Group("g").Text()}, handler(func(_ context.Context, run *executor.Run) (any, error) {
				_, _ = run.Stdout().Write([]byte(`{"url":"` + escaped + `"}` + "\n"))
				return json.RawMessage(`{"` + escaped + `": ["a\\ \"b\" \u00e9", "db://` + escaped + `", 1.50]}`), nil
			}))
			tr := w.trigger(asks(map[string]string{"DB": "db"}))
			time.Sleep(5 * time.Second)
			w.wantStatus(tr.RunID, job.StatusSucceeded, "")
			e := w.finished(tr.RunID)
			var got map[string][]any
			if err := json.Unmarshal(e.Result, &got); err != nil || len(got["***"]) != 3 || got["***"][0] != `a\ "b" é` || got["***"][1] != "db://***" {
				t.Errorf("%s: the result is %s, %v, %q", language, e.Result, err, e.Message)
			}
			if !strings.Contains(string(e.Result), "1.50") {
				t.Errorf("%s: the result is %s", language, e.Result)
			}
			if got := w.texts(tr.RunID); got != `{"url":"***"}` {
				t.Errorf("%s: the line is %s", language, got)
			}
		})
	}
}

func TestAResultThatIsASecretIsLeftOut(t *testing.T) {
	const secret = `{"user":"svc","password":"hunter22hunter"}`
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.sealed("account", secret)
		w.start("a", executor.Config{SecretKey: master.Group("g").Text()}, handler(func(context.Context, *executor.Run) (any, error) {
			return json.RawMessage(`{"config":` + secret + `}`), nil
		}))
		tr := w.trigger(asks(map[string]string{"ACCOUNT": "account"}))
		time.Sleep(5 * time.Second)
		w.wantStatus(tr.RunID, job.StatusSucceeded, "it has a secret in it")
		if e := w.finished(tr.RunID); e.Result != nil {
			t.Errorf("the result is %s", e.Result)
		}
	})
}
