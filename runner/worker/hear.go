package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// levels are those of lines, by their names.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "": slog.LevelInfo, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// take does what a message says.
func (p *process) take(m *message) {
	p.mu.Lock()
	first := !p.spoken
	if first {
		p.greetLocked(firstOf(m))
	}
	p.mu.Unlock()
	if first {
		return
	}
	switch m.Type {
	case typeLog, typeProgress, typeStart, typeResult, typeError:
	case typeRegister:
		p.warn(p.only(), "worker process registered again, which is ignored")
		return
	default:
		p.warn(p.only(), "worker process sent a message of an unknown type", "type", excerpt(m.Type))
		return
	}
	c := p.call(string(m.ID))
	if c == nil {
		p.warn(p.only(), "worker process sent a message about no run that it has", "type", excerpt(m.Type), "id", excerpt(string(m.ID)))
		return
	}
	switch m.Type {
	case typeLog:
		level, known := levels[m.Level]
		if !known {
			p.warn(c, "worker process sent a line of an unknown level", "given", excerpt(m.Level))
		}
		c.log.Log(context.Background(), level, m.Text) //nolint:sloglint,forbidigo // the worker's text; a run's log needs no context
	case typeProgress:
		c.run.Progress(m.Percent, m.Text)
	case typeStart:
		p.want(c, m)
	case typeResult:
		a := answer{}
		if result := compact(m.Result); result != nil {
			a.result = result
		}
		p.finish(c, a)
	case typeError:
		p.finish(c, answer{err: p.failure(c, m)})
	}
}

// firstOf returns what the first message says.
func firstOf(m *message) greeting {
	if m.Type != typeRegister {
		return greeting{err: fmt.Errorf("its first message is of type %q; it must be %q", m.Type, typeRegister)}
	}
	reg, err := m.normal()
	return greeting{registration: reg, err: err}
}

// failure returns the error of a run.
func (p *process) failure(c *call, m *message) error {
	text := m.Message
	if text == "" {
		text = "the worker process said error, without a message"
	}
	err := errors.New(text)
	if m.RetryAfter != "" {
		if after, wrong := job.ParseDuration(m.RetryAfter); wrong != nil || after < 0 {
			p.warn(c, "worker process sent a retry_after that is no duration such as 90s, which is ignored", "retry_after", excerpt(m.RetryAfter))
		} else {
			err = executor.RetryAfter(after, err)
		}
	}
	if m.Final {
		err = executor.Final(err)
	}
	return err
}

// finish ends a run with its answer. What the process has printed so far belongs to the run.
func (p *process) finish(c *call, a answer) {
	p.stderr.drain()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[c.id] == c {
		delete(p.calls, c.id)
		c.answer <- a
	}
}
