package xxlstandin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Dialects, as package wire names them.
const (
	A = "A"
	B = "B"
	C = "C"
)

// Config says what an executor is.
type Config struct {
	AppName string
	// Address is what it registers, such as http://10.0.0.5:9999.
	Address string
	// Admins are the addresses of its admins. It uses the first that answers.
	Admins []string
	Token  string
	// Dialect is A, B or C. Defaults to A.
	Dialect string
	// Old has it report results as versions before 2.3 do.
	Old bool
	// Client calls admins. Defaults to one with a timeout of 3 s.
	Client *http.Client
	// Slow is how long the answer to a request on a path is held back, after it has had its effect.
	// Defaults to not at all.
	Slow func(path string) time.Duration
	// RegisterEvery and RepeatEvery are how often it registers, and repeats callbacks that no admin
	// took. Default to 30 s.
	RegisterEvery, RepeatEvery time.Duration
}

// Run is what a handler is given.
type Run struct {
	JobID   int32  `json:"jobId"`
	Handler string `json:"executorHandler"`
	Params  string `json:"executorParams"`
	Block   string `json:"executorBlockStrategy"`
	Timeout int    `json:"executorTimeout"`
	LogID   int64  `json:"logId"`
	LogTime int64  `json:"logDateTime"`
	Glue    string `json:"glueType"`
	Source  string `json:"glueSource"`
	Updated int64  `json:"glueUpdatetime"`
	Index   int    `json:"broadcastIndex"`
	Total   int    `json:"broadcastTotal"`
}

// Handler does a run. ctx ends when the run is killed or takes too long. What it returns is the message
// of the run, which has failed if there is an error.
type Handler func(ctx context.Context, r Run, log func(line string)) (message string, err error)

// Executor is one. Its methods may be called concurrently.
type Executor struct {
	cfg      Config
	handlers map[string]Handler

	mu      sync.Mutex
	threads map[int32]*thread
	logs    map[int64][]string
	begun   map[int64]int // how often each run has begun
	taken   []Run
	pending []callback
	stopped bool
	wake    chan struct{}
	work    sync.WaitGroup
}

// thread does the runs of a job, one after the other.
type thread struct {
	queue  []Run
	now    *Run
	cancel context.CancelCauseFunc
}

type callback struct {
	LogID int64
	Code  int
	Msg   string
}

var (
	errKilled  = errors.New("[job running, killed]")
	errTimeout = errors.New("job execute timeout")
)

// New returns an executor with handlers by name. The handler "*" is for all others, and for scripts.
func New(cfg Config, handlers map[string]Handler) *Executor {
	if cfg.Dialect == "" {
		cfg.Dialect = A
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 3 * time.Second}
	}
	if cfg.RegisterEvery == 0 {
		cfg.RegisterEvery = 30 * time.Second
	}
	if cfg.RepeatEvery == 0 {
		cfg.RepeatEvery = 30 * time.Second
	}
	return &Executor{
		cfg: cfg, handlers: handlers, threads: map[int32]*thread{}, logs: map[int64][]string{}, begun: map[int64]int{}, wake: make(chan struct{}, 1),
	}
}

// Serve registers and serves on l until ctx is done. Then it ends as a process that is killed: it says
// nothing to anybody.
func (e *Executor) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	var loops sync.WaitGroup
	loops.Go(func() { e.register(ctx) })
	loops.Go(func() { e.report(ctx) })
	select {
	case <-ctx.Done():
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	}
	e.mu.Lock()
	e.stopped = true
	for _, t := range e.threads {
		t.queue = nil
		if t.cancel != nil {
			t.cancel(context.Canceled)
		}
	}
	e.mu.Unlock()
	err := server.Close()
	<-done //nolint:errcheck // it says that the server is closed
	loops.Wait()
	e.work.Wait()
	return err
}

// Leave tells the admin that the executor leaves.
func (e *Executor) Leave(ctx context.Context) error {
	return e.tell(ctx, "registryRemove", e.registration())
}

// Begun returns how often each run has begun, by its number.
func (e *Executor) Begun() map[int64]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.begun)
}

// Taken returns what the executor was asked to do, in order.
func (e *Executor) Taken() []Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Run(nil), e.taken...)
}

func (e *Executor) registration() any {
	return map[string]string{"registryGroup": "EXECUTOR", "registryKey": e.cfg.AppName, "registryValue": e.cfg.Address + "/"}
}

func (e *Executor) register(ctx context.Context) {
	tick := time.NewTicker(e.cfg.RegisterEvery)
	defer tick.Stop()
	for {
		_ = e.tell(ctx, "registry", e.registration()) // the next one makes up for it
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// report sends callbacks, and repeats those that no admin took.
func (e *Executor) report(ctx context.Context) {
	tick := time.NewTicker(e.cfg.RepeatEvery)
	defer tick.Stop()
	var failed []callback
	for {
		e.mu.Lock()
		batch := e.pending[:min(len(e.pending), 50)]
		e.pending = e.pending[len(batch):]
		more := len(e.pending) > 0
		e.mu.Unlock()
		if len(batch) > 0 && e.tell(ctx, "callback", e.bodyOf(batch)) != nil {
			failed = append(failed, batch...)
		}
		if more {
			continue
		}
		select {
		case <-e.wake:
		case <-tick.C:
			e.mu.Lock()
			e.pending, failed = append(failed, e.pending...), nil
			e.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// bodyOf returns callbacks as the dialect writes them.
func (e *Executor) bodyOf(batch []callback) any {
	list := make([]map[string]any, 0, len(batch))
	for _, c := range batch {
		switch {
		case e.cfg.Old:
			list = append(list, map[string]any{"logId": c.LogID, "logDateTim": 0, "executeResult": map[string]any{"code": c.Code, "msg": c.Msg}})
		case e.cfg.Dialect == C:
			list = append(list, map[string]any{"logId": c.LogID, "logDateTime": 0, "handleCode": c.Code, "handleMsg": c.Msg})
		default:
			list = append(list, map[string]any{"logId": c.LogID, "logDateTim": 0, "handleCode": c.Code, "handleMsg": c.Msg})
		}
	}
	if e.cfg.Dialect == C {
		return map[string]any{"callbackList": list}
	}
	return list
}

// tell calls the first admin that answers with success.
func (e *Executor) tell(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	err = errors.New("no admin")
	for _, admin := range e.cfg.Admins {
		if err = e.call(ctx, admin+"/api/"+path, data); err == nil {
			return nil
		}
	}
	return err
}

func (e *Executor) call(ctx context.Context, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	req.Header["XXL-JOB-ACCESS-TOKEN"] = []string{e.cfg.Token}
	if e.cfg.Dialect == C {
		req.Header["XXL-JOB-APPNAME"] = []string{e.cfg.AppName}
	}
	resp, err := e.cfg.Client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var a struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || a.Code != 200 {
		return fmt.Errorf("status %d, code %d: %s", resp.StatusCode, a.Code, a.Msg)
	}
	return nil
}

// ServeHTTP answers an admin.
func (e *Executor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 5<<20))
	if err != nil {
		return
	}
	code, msg, payload := e.answer(r, body)
	if e.cfg.Slow != nil {
		hold := time.NewTimer(e.cfg.Slow(r.URL.Path))
		defer hold.Stop()
		select {
		case <-hold.C:
		case <-r.Context().Done():
		}
	}
	out := map[string]any{"code": code}
	if msg != "" {
		out["msg"] = msg
	} else if e.cfg.Dialect != A {
		out["msg"] = "Success"
	}
	if payload != nil {
		out[map[bool]string{true: "content", false: "data"}[e.cfg.Dialect == A]] = payload
	}
	w.Header().Set("Content-Type", "text/html;charset=UTF-8")
	_ = json.NewEncoder(w).Encode(out) // whoever asked is gone
}

func (e *Executor) answer(r *http.Request, body []byte) (code int, msg string, payload any) {
	token := strings.Join(r.Header["Xxl-Job-Access-Token"], "")
	run := "/run"
	if e.cfg.Dialect == C {
		run = "/trigger"
	}
	switch {
	case r.Method != http.MethodPost:
		return 500, "invalid request, HttpMethod not support.", nil
	case e.cfg.Token != "" && token != e.cfg.Token:
		return 500, "The access token is wrong.", nil
	}
	var q struct {
		JobID int32 `json:"jobId"`
		LogID int64 `json:"logId"`
		From  int   `json:"fromLineNum"`
	}
	if r.URL.Path != "/beat" && json.Unmarshal(body, &q) != nil {
		return 500, "request error", nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.threads[q.JobID]
	switch r.URL.Path {
	case "/beat":
		return 200, "", nil
	case "/idleBeat":
		if t != nil && (t.now != nil || len(t.queue) > 0) {
			return 500, "job thread is running or has trigger queue.", nil
		}
		return 200, "", nil
	case run:
		var r Run
		if err := json.Unmarshal(body, &r); err != nil {
			return 500, err.Error(), nil
		}
		return e.runLocked(r)
	case "/kill":
		if t == nil {
			return 200, "", "job thread already killed."
		}
		for _, queued := range t.queue {
			e.endLocked(queued, 500, "[job not executed, in the job queue, killed.]")
		}
		t.queue = nil
		if t.cancel != nil {
			t.cancel(errKilled)
		}
		delete(e.threads, q.JobID) // the job is idle at once, whether the handler listens or not
		return 200, "", nil
	case "/log":
		lines, known := e.logs[q.LogID]
		if !known {
			return 200, "", map[string]any{"fromLineNum": q.From, "toLineNum": 0, "logContent": "readLog fail, logFile not exists", "isEnd": true}
		}
		from := min(max(q.From, 1), len(lines)+1)
		return 200, "", map[string]any{"fromLineNum": q.From, "toLineNum": len(lines), "logContent": strings.Join(lines[from-1:], "\n"), "isEnd": false}
	}
	return 500, "invalid request, uri-mapping(" + r.URL.Path + ") not found.", nil
}

func (e *Executor) runLocked(r Run) (code int, msg string, payload any) {
	h := e.handlers[r.Handler]
	if h == nil || r.Glue != "BEAN" {
		h = e.handlers["*"]
	}
	if h == nil {
		return 500, "job handler [" + r.Handler + "] not found.", nil
	}
	t := e.threads[r.JobID]
	if t == nil {
		t = &thread{}
		e.threads[r.JobID] = t
	}
	for _, queued := range t.queue {
		if queued.LogID == r.LogID {
			return 500, fmt.Sprintf("repeat trigger job, logId:%d", r.LogID), nil
		}
	}
	t.queue = append(t.queue, r)
	e.taken = append(e.taken, r)
	if t.now == nil && len(t.queue) == 1 {
		e.nextLocked(t)
	}
	return 200, "", nil
}

// nextLocked begins the next run of a thread.
func (e *Executor) nextLocked(t *thread) {
	if t.now = nil; len(t.queue) == 0 || e.stopped {
		return
	}
	r := t.queue[0]
	t.queue = t.queue[1:]
	t.now = &r
	h := e.handlers[r.Handler]
	if h == nil || r.Glue != "BEAN" {
		h = e.handlers["*"]
	}
	ctx, cancel := context.WithCancelCause(context.Background()) //nolint:forbidigo // a run outlives the request that began it
	t.cancel = cancel
	e.begun[r.LogID]++
	e.logs[r.LogID] = []string{"----------- job execute start -----------"}
	over := sync.OnceFunc(func() { e.nextLocked(t) }) // with the lock
	e.work.Go(func() {
		defer cancel(nil)
		if r.Timeout > 0 {
			timer := time.AfterFunc(time.Duration(r.Timeout)*time.Second, func() {
				cancel(errTimeout)
				e.mu.Lock()
				defer e.mu.Unlock()
				if errors.Is(context.Cause(ctx), errTimeout) && !e.stopped && t.now == &r { // at once, whether the handler listens or not
					e.endLocked(r, 502, errTimeout.Error())
					over()
				}
			})
			defer timer.Stop()
		}
		message, err := h(ctx, r, func(line string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.logs[r.LogID] = append(e.logs[r.LogID], line)
		})
		e.mu.Lock()
		defer e.mu.Unlock()
		code := 200
		switch cause := context.Cause(ctx); {
		case e.stopped, errors.Is(cause, errTimeout):
			return
		case errors.Is(cause, errKilled):
			code, message = 500, errKilled.Error()
		case err != nil:
			code, message = 500, err.Error()
		}
		e.endLocked(r, code, message)
		over()
	})
}

func (e *Executor) endLocked(r Run, code int, msg string) {
	e.pending = append(e.pending, callback{r.LogID, code, msg})
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
