package wire

import (
	"encoding/json"
	"time"
)

// Glue is what a run executes.
type Glue string

// The kinds of runs.
const (
	Bean           Glue = "BEAN" // a handler of the program
	GlueGroovy     Glue = "GLUE_GROOVY"
	GlueShell      Glue = "GLUE_SHELL"
	GluePython     Glue = "GLUE_PYTHON"
	GlueNode       Glue = "GLUE_NODEJS"
	GluePHP        Glue = "GLUE_PHP"
	GluePowerShell Glue = "GLUE_POWERSHELL"
)

// Serial is the block strategy that runs a job's runs one after the other, the only one that bridges send.
const Serial = "SERIAL_EXECUTION"

// Run asks an executor for a run.
type Run struct {
	JobID   int32
	Handler string // of a Bean
	Params  string
	Timeout time.Duration // 0: none
	LogID   int64
	LogTime time.Time // names the day of the log file
	Glue    Glue
	Source  string    // of all but a Bean
	Updated time.Time // if it changes, the executor loads the source again
	Index   int
	Total   int
}

// Encode returns the body of the request, which is the same in all dialects.
func (r Run) Encode() []byte {
	return encode(struct {
		JobID   int32  `json:"jobId"`
		Handler string `json:"executorHandler"`
		Params  string `json:"executorParams"`
		Block   string `json:"executorBlockStrategy"`
		Timeout int64  `json:"executorTimeout"`
		LogID   int64  `json:"logId"`
		LogTime int64  `json:"logDateTime"`
		Glue    Glue   `json:"glueType"`
		Source  string `json:"glueSource"`
		Updated int64  `json:"glueUpdatetime"`
		Index   int    `json:"broadcastIndex"`
		Total   int    `json:"broadcastTotal"`
	}{
		r.JobID, r.Handler, r.Params, Serial, int64((r.Timeout + time.Second - 1) / time.Second), r.LogID, r.LogTime.UnixMilli(),
		r.Glue, r.Source, r.Updated.UnixMilli(), r.Index, max(r.Total, 1),
	})
}

// JobRequest is the body of kill and idleBeat, which are about a job.
func JobRequest(id int32) []byte {
	return encode(struct {
		JobID int32 `json:"jobId"`
	}{id})
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("BUG: encode request: " + err.Error()) // they are texts and numbers
	}
	return data
}
