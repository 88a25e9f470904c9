package xxlstandin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The dialects: families of versions.
const (
	A = "A"
	B = "B"
	C = "C"
)

// runPath is where an admin hands over a run.
func (c *Config) runPath() string {
	if c.Dialect == C {
		return "/trigger"
	}
	return "/run"
}

// content is the key of what an answer has to say.
func (c *Config) content() string {
	if c.Dialect == A {
		return "content"
	}
	return "data"
}

// callbacks is the body of a callback.
func (c *Config) callbacks(ends []end) any {
	list := make([]map[string]any, len(ends))
	for i, e := range ends {
		m := map[string]any{"logId": e.logID}
		if c.Old {
			m["executeResult"] = map[string]any{"code": e.code, "msg": e.message}
		} else {
			m["handleCode"], m["handleMsg"] = e.code, e.message
		}
		if c.Dialect == C {
			m["logDateTime"] = e.logDateTime
		} else {
			m["logDateTim"] = e.logDateTime
		}
		list[i] = m
	}
	if c.Dialect == C {
		return map[string]any{"callbackList": list}
	}
	return list
}

// The codes of answers and ends.
const (
	codeSuccess = 200
	codeFailure = 500
	codeTimeout = 502
)

const (
	headerToken   = "XXL-JOB-ACCESS-TOKEN" //nolint:gosec // a name
	headerAppName = "XXL-JOB-APPNAME"
)

// Run is a run that an admin hands over.
type Run struct {
	JobID   int32  `json:"jobId"`
	Handler string `json:"executorHandler"`
	Params  string `json:"executorParams"`
	Block   string `json:"executorBlockStrategy"`
	Timeout int    `json:"executorTimeout"` // seconds
	LogID   int64  `json:"logId"`
	LogTime int64  `json:"logDateTime"`
	Glue    string `json:"glueType"`
	Source  string `json:"glueSource"`
	Updated int64  `json:"glueUpdatetime"`
	Index   int    `json:"broadcastIndex"`
	Total   int    `json:"broadcastTotal"`
}

// tell sends a message to the first admin that thanks for it.
func (e *Executor) tell(ctx context.Context, what string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var all error
	for _, admin := range e.cfg.Admins {
		err := e.tellOne(ctx, strings.TrimSuffix(admin, "/")+"/api/"+what, data)
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return all
}

func (e *Executor) tellOne(ctx context.Context, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	req.Header.Set(headerToken, e.cfg.Token)
	if e.cfg.Dialect == C {
		req.Header.Set(headerAppName, e.cfg.AppName)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("read the answer of %s, status %d: %w", url, resp.StatusCode, err)
	}
	if resp.StatusCode != http.StatusOK || answer.Code != codeSuccess {
		return fmt.Errorf("%s answers %d, code %d: %s", url, resp.StatusCode, answer.Code, answer.Msg)
	}
	return nil
}
