package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
)

// maxCallbacks bounds one message of callbacks. Java executors send at most 50.
const maxCallbacks = 1000

// Callback says how a run ended.
type Callback struct {
	LogID int64
	Code  int
	Msg   string
	// Old says that the result came as versions before 2.3 write it.
	Old bool
}

// ReadCallbacks reads the body of a callback, in any dialect. The error is an *InvalidError.
func ReadCallbacks(body []byte) ([]Callback, error) {
	type result struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	type element struct {
		LogID         *int64  `json:"logId"`
		HandleCode    int     `json:"handleCode"`
		HandleMsg     string  `json:"handleMsg"`
		ExecuteResult *result `json:"executeResult"`
	}
	var list []*element
	var err error
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '{' {
		var object struct {
			List []*element `json:"callbackList"`
		}
		err = json.Unmarshal(body, &object)
		list = object.List
	} else {
		err = json.Unmarshal(body, &list)
	}
	switch {
	case err == nil && list == nil: // null, or another object
		return nil, &job.InvalidError{Field: "body", Reason: "must be a list of callbacks, or an object with a callbackList"}
	case err != nil:
		return nil, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("is no JSON list of callbacks: %v", err)}
	case len(list) > maxCallbacks:
		return nil, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("has %d callbacks; at most %d are read", len(list), maxCallbacks)}
	}
	all := make([]Callback, 0, len(list))
	for i, e := range list {
		if e == nil || e.LogID == nil {
			return nil, &job.InvalidError{Field: "logId", Reason: fmt.Sprintf("of callback %d is missing", i)}
		}
		c := Callback{LogID: *e.LogID, Code: e.HandleCode, Msg: e.HandleMsg}
		if c.Code == 0 && e.ExecuteResult != nil {
			c.Code, c.Msg, c.Old = e.ExecuteResult.Code, e.ExecuteResult.Msg, true
		}
		all = append(all, c)
	}
	return all, nil
}
