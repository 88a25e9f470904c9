package xxljob

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// glues are XXL-JOB's words for languages of scripts.
var glues = map[string]wire.Glue{
	"shell": wire.GlueShell, "python": wire.GluePython, "node": wire.GlueNode, "php": wire.GluePHP, "powershell": wire.GluePowerShell,
	"groovy": wire.GlueGroovy, // which they call GLUE(Java)
}

// compose returns what an executor is asked to do. The error is job.ErrUnavailable if that cannot be
// known now; any other says why it cannot be done.
func (b *Bridge) compose(ctx context.Context, t *bus.Trigger) (wire.Run, error) {
	r := wire.Run{Glue: wire.Bean, Handler: t.Task.Handler, Params: paramsOf(t), Index: t.Index, Total: max(t.Total, 1)}
	if s := t.Task.Script; s != nil {
		if len(t.Task.Env)+len(t.Task.Secrets) > 0 || t.Task.Dir != "" || t.Task.Stdin != "" {
			return r, job.Invalid("task", "executors of XXL-JOB run scripts without env, secrets, dir and stdin")
		}
		if r.Glue = glues[s.Language]; r.Glue == "" {
			return r, job.Invalid("task.script.language", "executors of XXL-JOB run no scripts in %s", s.Language)
		}
		var err error
		if r.Source, err = b.scripts.text(ctx, t.Job.Group(), s.Digest); err != nil {
			return r, err
		}
		r.Updated = updated(s.Digest)
	} else {
		r.Updated = epoch
	}
	var err error
	r.JobID, err = b.jobs.of(ctx, t)
	return r, err
}

// paramsOf returns the parameter of a run: a text as it is, anything else as JSON. A piece that has an
// item is about that.
func paramsOf(t *bus.Trigger) string {
	params := t.Params
	if len(t.Item) > 0 {
		params = t.Item
	}
	var text string
	switch {
	case len(params) == 0 || string(params) == "null":
		return ""
	case json.Unmarshal(params, &text) == nil:
		return text
	}
	return string(params)
}

// epoch is when XXL-JOB was first published. No script is older.
var epoch = time.Date(2015, time.November, 30, 0, 0, 0, 0, time.UTC)

// updated returns the time by which an executor tells versions of a script apart. It is made of the
// digest: the same for the same text, whichever bridge sends it, and another for another.
func updated(digest string) time.Time {
	sum, err := hex.DecodeString(digest[:min(len(digest), 10)])
	if err != nil {
		return epoch
	}
	ms := int64(0)
	for _, b := range sum {
		ms = ms<<8 | int64(b)
	}
	return epoch.Add(time.Duration(ms>>2) * time.Millisecond) // within nine years
}

// scripts knows the texts of scripts, which never change. It is safe for concurrent use.
type scripts struct {
	conn *jet.Conn

	mu    sync.Mutex
	known map[string]string // by group and digest
	bytes int
}

// maxScripts bounds the texts that are kept, in bytes.
const maxScripts = 16 << 20

func (s *scripts) text(ctx context.Context, group, digest string) (string, error) {
	key := group + "." + digest
	s.mu.Lock()
	text, ok := s.known[key]
	s.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := s.conn.Script(ctx, group, digest)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes += len(text); s.bytes > maxScripts {
		clear(s.known)
		s.bytes = len(text)
	}
	s.known[key] = text
	return text, nil
}

// blocks knows which instances have which numbers of runs. It is safe for concurrent use.
type blocks struct {
	store *state.Store

	mu    sync.Mutex
	known map[string]state.Block // by group and first number
}

// maxBlocks bounds what is kept.
const maxBlocks = 100_000

// of returns the instance of a group that has a number. The error is job.ErrNotFound if none has it.
func (b *blocks) of(ctx context.Context, group string, logID int64) (state.Block, error) {
	first := group + "." + strconv.FormatInt(logID/state.BlockSize, 10)
	b.mu.Lock()
	block, ok := b.known[first]
	b.mu.Unlock()
	if ok {
		return block, nil
	}
	block, err := b.store.BlockOf(ctx, group, logID)
	if err != nil {
		return block, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= maxBlocks {
		clear(b.known)
	}
	b.known[first] = block
	return block, nil
}
