package xxljob_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
)

// FuzzConvert makes jobs of what executors may send to addJob: each is one that could be saved.
func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"name": "n", "scheduleType": "CRON", "scheduleConf": "0 0 * * * ?", "executorHandler": "h", "glueType": "BEAN"}`))
	f.Add([]byte(`{"name": "任务", "scheduleType": "FIX_RATE", "scheduleConf": "5", "glueType": "GLUE_SHELL", "glueSource": "echo"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		info, err := wire.ReadJobInfo(body, false)
		if err != nil {
			return
		}
		if e := xxljob.Convert(7, "group", "Asia/Shanghai", info.Columns()); e.Outcome == xxljob.Imported {
			if err := e.Job.Validate(); err != nil {
				t.Errorf("%+v: %v", e.Job, err)
			}
		}
	})
}
