package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bridge/xxljob"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/jobapi"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of bodies, in bytes: a callback has 50 messages of 50,000 characters at most.
const (
	maxRegistration = 16 << 10
	maxCallback     = 12 << 20
	maxJob          = 2 << 20 // its script is the most of it
)

// callbacksAtOnce is how many of the ends in one message are stored at the same time.
const callbacksAtOnce = 50

// Config says what a handler needs.
type Config struct {
	Tokens *Tokens
	// Refuse returns why an address must not be called, nil if it may.
	Refuse func(address string) error
	// Jobs serves the job API of dialect C. Defaults to none.
	Jobs   *jobapi.API
	Logger *slog.Logger
}

// Handler serves what executors call. It is safe for concurrent use.
type Handler struct {
	bridge    *xxljob.Bridge
	cfg       Config
	registers *limits
	callbacks *limits
	jobs      *limits
	refusals  *limits
	log       *slog.Logger // in steps: anybody can cause its lines
}

// New returns a handler for a bridge.
func New(bridge *xxljob.Bridge, cfg Config) *Handler {
	return &Handler{bridge: bridge, cfg: cfg, log: doubling.Logger(cfg.Logger), registers: newLimits(registersPerSecond), callbacks: newLimits(callbacksPerSecond), jobs: newLimits(jobsPerSecond), refusals: newLimits(refusedPerSecond)}
}

// Server returns a server of the handler with limits for slow clients.
func (h *Handler) Server() *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(h.cfg.Logger.Handler(), slog.LevelDebug),
	}
}

// caller is who asks.
type caller struct {
	token   string
	appName string // of dialect C
	address string
}

// dialect returns what the call says of its dialect.
func (c caller) dialect() wire.Dialect {
	if c.appName != "" {
		return wire.DialectC
	}
	return ""
}

// ServeHTTP answers an executor.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, ours := actOf(r.URL.Path)
	if !ours {
		h.answer(w, http.StatusNotFound, failure(fmt.Errorf("no such path: %s; executors call /api/registry and /api/callback. Pages of XXL-JOB's admin, such as /jobinfo/trigger, are not served: manage jobs by Carillon's API or command line, see docs/how-to/move-from-xxl-job.md", r.URL.Path)))
		return
	}
	if r.Method != http.MethodPost {
		h.answer(w, http.StatusOK, failure(errors.New("invalid request, HttpMethod not support")))
		return
	}
	who := caller{r.Header.Get(wire.HeaderToken), r.Header.Get(wire.HeaderAppName), r.RemoteAddr}
	if !h.cfg.Tokens.admitsAny(who.token) {
		if !h.refusals.allow(r.RemoteAddr) {
			h.answer(w, http.StatusTooManyRequests, failure(errors.New("too many requests with a wrong access token; wait a second")))
			return
		}
		h.refuse(r, wrongToken)
		h.answer(w, http.StatusOK, wire.Answer{Code: wire.CodeFailed, Msg: wrongToken})
		return
	}
	var act func(context.Context, caller, []byte) (json.RawMessage, error)
	limit, most, busy := h.registers, int64(maxRegistration), wire.CodeFailed
	switch path {
	case "registry":
		act = silent(h.register)
	case "registryRemove":
		act = silent(h.remove)
	case "callback":
		act, limit, most = silent(h.callback), h.callbacks, maxCallback
	case "addJob", "updateJob", "removeJob", "startJob", "stopJob", "triggerJob":
		act, limit, most, busy = h.jobAct(path), h.jobs, maxJob, wire.CodeBusy
	default:
		h.answer(w, http.StatusOK, failure(fmt.Errorf("invalid request, uri-mapping(%s) not found", path)))
		return
	}
	if !limit.allow(r.RemoteAddr) {
		h.answer(w, http.StatusTooManyRequests, wire.Answer{Code: busy, Msg: "too many requests from this address; wait a second"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		h.answer(w, http.StatusOK, failure(fmt.Errorf("read the body, of at most %d bytes: %w", most, err)))
		return
	}
	payload, err := act(r.Context(), who, body)
	if err != nil {
		if !errors.Is(err, job.ErrUnavailable) {
			h.refuse(r, err.Error())
		}
		h.answer(w, http.StatusOK, failure(err))
		return
	}
	h.answer(w, http.StatusOK, wire.Answer{Code: wire.CodeOK, Payload: payload})
}

// actOf returns what an executor asks for. As at XXL-JOB's admin, which may have any context path,
// repeated slashes count as one.
func actOf(path string) (act string, ours bool) {
	words := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	if n := len(words); n >= 2 && words[n-2] == "api" {
		return words[n-1], true
	}
	return "", false
}

// silent wraps an act that has no payload to answer.
func silent(act func(context.Context, caller, []byte) error) func(context.Context, caller, []byte) (json.RawMessage, error) {
	return func(ctx context.Context, who caller, body []byte) (json.RawMessage, error) {
		return nil, act(ctx, who, body)
	}
}

// jobAct serves one act of the job API, on jobs of the caller's own group.
func (h *Handler) jobAct(act string) func(context.Context, caller, []byte) (json.RawMessage, error) {
	return func(ctx context.Context, who caller, body []byte) (json.RawMessage, error) {
		if who.appName == "" {
			return nil, &job.InvalidError{Field: wire.HeaderAppName, Reason: "must be the AppName whose jobs are meant"}
		}
		group, err := xxljob.GroupOf(who.appName)
		switch {
		case err != nil:
			return nil, err
		case h.cfg.Jobs == nil:
			return nil, errors.New("the bridge serves no job API: start it with --api and --api-token-file")
		case !h.cfg.Tokens.owns(group, who.token):
			return nil, &job.InvalidError{Field: wire.HeaderToken, Reason: "must be the group's own: the job API takes no token of all groups, because its callers could name any AppName"}
		}
		return h.cfg.Jobs.Serve(ctx, group, act, body)
	}
}

// errOtherGroup is the answer to a caller with the token of another group.
var errOtherGroup = &job.InvalidError{Field: wire.HeaderToken, Reason: "is the access token of another executor group"}

// wrongToken is XXL-JOB's own text, which its users search for.
const wrongToken = "The access token is wrong."

// refuse logs a refused request.
func (h *Handler) refuse(r *http.Request, why string) {
	h.refuseFrom(r.Context(), r.RemoteAddr, r.URL.Path, why)
}

func (h *Handler) refuseFrom(ctx context.Context, address, path, why string) {
	h.log.WarnContext(ctx, "request of an executor refused", "address", address, "path", path, "reason", why)
}

func failure(err error) wire.Answer { return wire.Answer{Code: wire.CodeFailed, Msg: err.Error()} }

func (h *Handler) answer(w http.ResponseWriter, status int, a wire.Answer) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(a.Encode()) //nolint:gosec // JSON; if it cannot be written, the caller is gone
}

// registration reads one that its caller may send.
func (h *Handler) registration(who caller, body []byte) (wire.Registration, error) {
	r, err := wire.ReadRegistration(body)
	if err != nil {
		return r, err
	}
	group, err := xxljob.GroupOf(r.AppName)
	switch {
	case err != nil:
		return r, err
	case who.appName != "" && who.appName != r.AppName:
		return r, &job.InvalidError{Field: wire.HeaderAppName, Reason: "is not the registryKey"}
	case !h.cfg.Tokens.Admits(group, who.token):
		return r, errOtherGroup
	}
	return r, nil
}

func (h *Handler) register(ctx context.Context, who caller, body []byte) error {
	r, err := h.registration(who, body)
	if err != nil {
		return err
	}
	if err := h.cfg.Refuse(r.Address); err != nil {
		return &job.InvalidError{Field: "registryValue", Reason: err.Error()}
	}
	return h.bridge.Register(ctx, r, who.dialect())
}

func (h *Handler) remove(ctx context.Context, who caller, body []byte) error {
	r, err := h.registration(who, body)
	if err != nil {
		return err
	}
	return h.bridge.Remove(ctx, r)
}

// callback succeeds once all ends in it are stored. If some cannot be stored, the executor repeats the
// whole callback, which is harmless.
func (h *Handler) callback(ctx context.Context, who caller, body []byte) error {
	list, wrong, err := wire.ReadCallbacks(body)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(callbacksAtOnce)
	for _, c := range list {
		g.Go(func() error {
			return h.bridge.Callback(ctx, c, func(group string) bool { return h.cfg.Tokens.Admits(group, who.token) })
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if wrong != nil { // an answer other than success would have the others repeated for ever
		h.refuseFrom(ctx, who.address, "/api/callback", wrong.Error())
	}
	return nil
}
