package alerting_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

func TestAJobThatTheListHasNoPlaceForCountsOnce(t *testing.T) {
	r := alerting.Rule{Alert: "r"}
	var inc *alerting.Incident
	for seq := range uint64(180) { // 60 jobs, three times
		f := &alerting.Finding{
			Rule: &r, Subject: "group g", At: time.Unix(1_800_000_000, 0), Source: "evt", Seq: seq + 1,
			Summary: alerting.Say("run_ended", "job", "g/x", "status", "failed"),
			Job:     alerting.Affected{Job: job.Name(fmt.Sprintf("g/job-%d", seq%60)), Status: job.StatusFailed},
		}
		if inc == nil {
			inc = alerting.NewIncident(f)
		} else {
			inc.Add(f)
		}
	}
	if len(inc.Jobs) != 50 || inc.More != 10 || inc.Count != 180 || inc.SummaryParams["others"] != "59" {
		t.Errorf("%d jobs, %d more, %d runs, %v", len(inc.Jobs), inc.More, inc.Count, inc.SummaryParams)
	}
}
