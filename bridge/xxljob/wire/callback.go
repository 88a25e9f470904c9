package wire

import (
	"bytes"
	"encoding/json"
	"errors"
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

// ReadCallbacks reads the body of a callback, in any dialect. An element that cannot be read does not
// keep the others from being read: wrong says what is wrong with the first of such elements, and is nil
// without one. The error is an *InvalidError: the body is no list, or nothing in it can be read.
func ReadCallbacks(body []byte) (all []Callback, wrong, err error) {
	var list []json.RawMessage
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '{' {
		var object struct {
			List []json.RawMessage `json:"callbackList"`
		}
		err = json.Unmarshal(body, &object)
		list = object.List
	} else {
		err = json.Unmarshal(body, &list)
	}
	switch {
	case err == nil && list == nil: // null, or another object
		return nil, nil, &job.InvalidError{Field: "body", Reason: "must be a list of callbacks, or an object with a callbackList"}
	case err != nil:
		return nil, nil, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("is no JSON list of callbacks: %v", err)}
	case len(list) > maxCallbacks:
		return nil, nil, &job.InvalidError{Field: "body", Reason: fmt.Sprintf("has %d callbacks; at most %d are read", len(list), maxCallbacks)}
	}
	all = make([]Callback, 0, len(list))
	for i, element := range list {
		c, err := readCallback(element)
		switch {
		case err == nil:
			all = append(all, c)
		case wrong == nil:
			wrong = &job.InvalidError{Field: "body", Reason: fmt.Sprintf("callback %d of %d cannot be read: %v", i+1, len(list), err)}
		}
	}
	if len(all) == 0 && wrong != nil {
		return nil, nil, wrong
	}
	return all, wrong, nil
}

func readCallback(body []byte) (Callback, error) {
	var e struct {
		LogID         *integer `json:"logId"`
		HandleCode    code     `json:"handleCode"`
		HandleMsg     text     `json:"handleMsg"`
		ExecuteResult *struct {
			Code code `json:"code"`
			Msg  text `json:"msg"`
		} `json:"executeResult"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return Callback{}, err
	}
	if e.LogID == nil {
		return Callback{}, errors.New("logId is missing")
	}
	c := Callback{LogID: int64(*e.LogID), Code: int(e.HandleCode), Msg: string(e.HandleMsg)}
	if r := e.ExecuteResult; c.Code == 0 && r != nil {
		c.Code, c.Msg, c.Old = int(r.Code), string(r.Msg), true
	}
	return c, nil
}
