package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
)

// CodeBusy is that of an answer of the job API to a caller that asks too often.
const CodeBusy = 502

// JobInfo is the body of addJob and updateJob, which only dialect C has: a job as an executor's program
// describes it. Columns says what its fields mean.
type JobInfo struct {
	ID             int32 // of updateJob
	Name           string
	Author         string
	AlarmEmail     string
	ScheduleType   string
	ScheduleConf   string
	Misfire        string
	Route          string
	Handler        string
	Params         string
	Block          string
	TimeoutSeconds int
	Retries        int
	Glue           string
	Source         string
}

// fields are those of JobInfo by the columns of xxl_job_info that hold them.
var fields = map[string]string{
	"job_desc": "name", "author": "author", "alarm_email": "alarmEmail", "schedule_type": "scheduleType", "schedule_conf": "scheduleConf",
	"misfire_strategy": "misfireStrategy", "executor_route_strategy": "executorRouteStrategy", "executor_handler": "executorHandler",
	"executor_param": "executorParam", "executor_block_strategy": "executorBlockStrategy", "executor_timeout": "executorTimeout",
	"executor_fail_retry_count": "executorFailRetryCount", "glue_type": "glueType", "glue_source": "glueSource",
}

// FieldOf returns the field that a column of xxl_job_info is in a request.
func FieldOf(column string) string { return fields[column] }

// Columns returns the job as a row of xxl_job_info. As in XXL-JOB, one that has just been added does not
// fire before it is started.
func (i *JobInfo) Columns() map[string]string {
	return map[string]string{
		"job_desc": i.Name, "author": i.Author, "alarm_email": i.AlarmEmail, "schedule_type": i.ScheduleType, "schedule_conf": i.ScheduleConf,
		"misfire_strategy": i.Misfire, "executor_route_strategy": i.Route, "executor_handler": i.Handler,
		"executor_param": i.Params, "executor_block_strategy": i.Block, "executor_timeout": strconv.Itoa(i.TimeoutSeconds),
		"executor_fail_retry_count": strconv.Itoa(i.Retries), "glue_type": i.Glue, "glue_source": i.Source, "trigger_status": "0",
	}
}

// ReadJobInfo reads and checks the body of addJob, or of updateJob. What only Carillon can judge, such as
// a cron expression, is not checked. The error is an *InvalidError.
func ReadJobInfo(body []byte, update bool) (JobInfo, error) {
	var in struct {
		ID             code `json:"id"`
		Name           text `json:"name"`
		Author         text `json:"author"`
		AlarmEmail     text `json:"alarmEmail"`
		ScheduleType   text `json:"scheduleType"`
		ScheduleConf   text `json:"scheduleConf"`
		Misfire        text `json:"misfireStrategy"`
		Route          text `json:"executorRouteStrategy"`
		Handler        text `json:"executorHandler"`
		Params         text `json:"executorParam"`
		Block          text `json:"executorBlockStrategy"`
		TimeoutSeconds code `json:"executorTimeout"`
		Retries        code `json:"executorFailRetryCount"`
		Glue           text `json:"glueType"`
		Source         text `json:"glueSource"`
	}
	if err := readObject(body, &in); err != nil {
		return JobInfo{}, err
	}
	i := JobInfo{
		ID: int32(in.ID), Name: string(in.Name), Author: string(in.Author), AlarmEmail: string(in.AlarmEmail),
		ScheduleType: string(in.ScheduleType), ScheduleConf: string(in.ScheduleConf), Misfire: string(in.Misfire), Route: string(in.Route),
		Handler: string(in.Handler), Params: string(in.Params), Block: string(in.Block), TimeoutSeconds: int(in.TimeoutSeconds),
		Retries: int(in.Retries), Glue: string(in.Glue), Source: string(in.Source),
	}
	switch {
	case update && i.ID < 1:
		return i, wrongID(i.ID)
	case i.Name == "":
		return i, &job.InvalidError{Field: "name", Reason: "must not be empty"}
	case i.ScheduleType != "NONE" && i.ScheduleType != "CRON" && i.ScheduleType != "FIX_RATE" && i.ScheduleType != "FIX_DELAY":
		return i, &job.InvalidError{Field: "scheduleType", Reason: fmt.Sprintf("%q must be NONE, CRON, FIX_RATE or FIX_DELAY", i.ScheduleType)}
	case i.ScheduleType != "NONE" && i.ScheduleConf == "":
		return i, &job.InvalidError{Field: "scheduleConf", Reason: "must not be empty for scheduleType " + i.ScheduleType}
	case i.Misfire != "" && i.Misfire != "DO_NOTHING" && i.Misfire != "FIRE_ONCE_NOW":
		return i, &job.InvalidError{Field: "misfireStrategy", Reason: fmt.Sprintf("%q must be DO_NOTHING or FIRE_ONCE_NOW", i.Misfire)}
	case i.Glue == string(Bean) && i.Handler == "":
		return i, &job.InvalidError{Field: "executorHandler", Reason: "must not be empty for glueType BEAN"}
	case i.TimeoutSeconds < 0:
		return i, &job.InvalidError{Field: "executorTimeout", Reason: fmt.Sprintf("%d must be a number of seconds, 0 for none", i.TimeoutSeconds)}
	case i.Retries < 0:
		return i, &job.InvalidError{Field: "executorFailRetryCount", Reason: fmt.Sprintf("%d must not be negative", i.Retries)}
	}
	return i, nil
}

// JobCommand is the body of removeJob, startJob, stopJob and triggerJob.
type JobCommand struct {
	ID int32
	// Params, of triggerJob, replaces the job's parameter, also if it is empty; nil leaves it.
	Params *string
	// Addresses, of triggerJob, are the executors that may run it, separated by commas; empty for any.
	Addresses string
}

// ReadJobCommand reads such a body. The error is an *InvalidError.
func ReadJobCommand(body []byte) (JobCommand, error) {
	var in struct {
		ID        code  `json:"id"`
		Params    *text `json:"executorParam"`
		Addresses text  `json:"addressList"`
	}
	if err := readObject(body, &in); err != nil {
		return JobCommand{}, err
	}
	c := JobCommand{ID: int32(in.ID), Params: (*string)(in.Params), Addresses: string(in.Addresses)}
	if c.ID < 1 {
		return c, wrongID(c.ID)
	}
	return c, nil
}

func readObject(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' {
		return &job.InvalidError{Field: "body", Reason: "must be a JSON object"}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &job.InvalidError{Field: "body", Reason: fmt.Sprintf("is no JSON of this request: %v", err)}
	}
	return nil
}

func wrongID(id int32) error {
	return &job.InvalidError{Field: "id", Reason: fmt.Sprintf("%d must be the number of a job, as addJob has answered it", id)}
}
