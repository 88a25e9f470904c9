package xxlstandin

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ServeHTTP answers an admin.
func (e *Executor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e.control(w, r) {
		return
	}
	manner := e.manner.Load()
	if manner != nil && manner.before(w, r) {
		return
	}
	if e.cfg.Answer != nil && e.cfg.Answer(w, r) {
		return
	}
	code, msg, content := e.answer(r)
	if manner != nil && manner.Mute {
		<-r.Context().Done()
		return
	}
	if e.cfg.Slow != nil {
		hold(r, e.cfg.Slow(r.URL.Path))
	}
	body := map[string]any{"code": code, "msg": msg}
	if e.cfg.Dialect == A && code == codeSuccess {
		delete(body, "msg") // as up to version 2.5
	}
	if content != nil {
		body[e.cfg.content()] = content
	}
	w.Header().Set("Content-Type", "text/html;charset=UTF-8") // as the executor in Java does
	if err := json.NewEncoder(w).Encode(body); err != nil {
		e.log.WarnContext(r.Context(), "not answered", "error", err)
	}
}

func (e *Executor) answer(r *http.Request) (code int, msg string, content any) {
	if wrong := e.refuse(r); wrong != "" {
		return codeFailure, wrong, nil
	}
	switch r.URL.Path {
	case "/beat":
		return codeSuccess, "Success", nil
	case "/idleBeat":
		return with(r, func(q struct {
			JobID int32 `json:"jobId"`
		},
		) (int, string, any) {
			return e.idle(q.JobID)
		})
	case e.cfg.runPath():
		return with(r, func(t Run) (int, string, any) {
			code, msg := e.accept(t)
			return code, msg, nil
		})
	case "/kill":
		return with(r, func(q struct {
			JobID int32 `json:"jobId"`
		},
		) (int, string, any) {
			return e.kill(q.JobID)
		})
	case "/log":
		return with(r, func(q struct {
			LogID int64 `json:"logId"`
			From  int   `json:"fromLineNum"`
		},
		) (int, string, any) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if _, ok := e.logs.lines[q.LogID]; !ok {
				e.unknownLogs++
			}
			return codeSuccess, "Success", e.logs.read(q.LogID, q.From, e.cfg.Page)
		})
	}
	return codeFailure, fmt.Sprintf("invalid request, uri-mapping(%s) not found.", r.URL.Path), nil
}

// refuse returns what is wrong with a request before it is read, or nothing.
func (e *Executor) refuse(r *http.Request) string {
	token, name := r.Header.Get(headerToken), r.Header.Get(headerAppName)
	switch {
	case r.Method != http.MethodPost:
		return "invalid request, HttpMethod not support."
	case e.cfg.Dialect == C && (token == "" || name == ""):
		return "invalid request, accessToken or appname is empty."
	case e.cfg.Dialect == C && (token != e.cfg.Token || name != e.cfg.AppName):
		return "invalid request, accessToken or appname invalid."
	case e.cfg.Dialect != C && e.cfg.Token != "" && token != e.cfg.Token:
		return "The access token is wrong."
	}
	return ""
}

// with reads the body of r, and gives it to do.
func with[T any](r *http.Request, do func(T) (int, string, any)) (code int, msg string, content any) {
	var body T
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return codeFailure, "invalid request: " + err.Error(), nil
	}
	return do(body)
}
