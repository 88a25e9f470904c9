package alert_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

func TestAReportOfAMonthIsSentOnceAndTriedUntilItIsTaken(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		w.start("b")
		w.answers(func(request) int { return http.StatusServiceUnavailable })
		all, err := alerting.NewSilence(alerting.Silence{}, time.Hour, "mia", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.book.AddSilence(w.t.Context(), all); err != nil {
			t.Fatal(err)
		}
		add := func() {
			t.Helper()
			c := alerting.Channel{Channel: "hook", Month: &alerting.Monthly{Day: 1}}
			inc, err := alerting.NewReport(&c, "2025-12", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			inc.Report.Text = "Figures"
			if err := w.book.AddReport(w.t.Context(), inc); err != nil {
				t.Fatal(err)
			}
		}
		add()
		add()
		time.Sleep(settled)
		w.wantSent("month_report Report of 2025-12")
		w.answers(nil)
		time.Sleep(15 * time.Second)
		w.wantSent("month_report Report of 2025-12")
		add()
		time.Sleep(time.Hour)
		w.wantSent()
		if inc := w.wantDeliveries("hook month_report sent 2"); inc.State != alerting.Resolved || inc.ResolutionCode != "was_report" {
			t.Errorf("the incident of the report is %+v", inc)
		}
	})
}
