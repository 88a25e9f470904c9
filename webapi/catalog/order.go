package catalog

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// The orders of a list of jobs besides that by name; the contract states them.
const (
	orderAttention = "attention" // those that fail longest, then those that run too long, then by next fire
	orderNext      = "next"
	orderLast      = "last"
	orderSuccess   = "success"
	orderP95       = "p95"
	orderOwner     = "owner"
	orderChanged   = "changed"
	orderVersion   = "version"
	orderName      = "name"
)

// sortKey is where a job is in an order, and a cursor: the jobs after it are those whose
// keys are greater. Jobs without a figure or a text come last, either way.
type sortKey struct {
	Figures [3]float64 `json:"f"`
	Text    string     `json:"t,omitempty"`
	Job     job.Name   `json:"j"`
	down    bool       // the greatest text comes first
}

// noFigure is greater than all figures. JSON has no infinity.
const noFigure = math.MaxFloat64

func (p sortKey) compare(o sortKey) int {
	texts := strings.Compare(p.Text, o.Text)
	if p.down {
		texts = -texts
	}
	return cmp.Or(slices.Compare(p.Figures[:], o.Figures[:]), texts, strings.Compare(string(p.Job), string(o.Job)))
}

func (p sortKey) cursor() string {
	text, _ := json.Marshal(p) // never fails: all figures are finite
	return base64.RawURLEncoding.EncodeToString(text)
}

func parseSortKey(cursor string) (key sortKey, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &key)
	}
	if err != nil {
		return key, job.Invalid("cursor", "must be the value of next from the previous page, in the same order")
	}
	return key, nil
}

// sortKeys returns where jobs are in an order; a hyphen before it turns it round.
func (s *Search) sortKeys(ctx context.Context, jobs []found, order string) ([]sortKey, error) {
	by, down := strings.CutPrefix(order, "-")
	figures, err := s.figures(ctx, jobs, by)
	if err != nil {
		return nil, err
	}
	keys := make([]sortKey, len(jobs))
	for i := range jobs {
		keys[i] = sortKey{Figures: figures(&jobs[i]), Job: jobs[i].name, down: down}
		switch by {
		case orderOwner:
			keys[i].Text = strings.ToLower(jobs[i].owner)
		case orderName:
			keys[i].Text = string(jobs[i].name)
		}
		if !down {
			continue
		}
		for k, figure := range keys[i].Figures {
			if figure != noFigure {
				keys[i].Figures[k] = -figure
			}
		}
	}
	return keys, nil
}

// figures returns what tells the keys of jobs in an order, the least first.
func (s *Search) figures(ctx context.Context, jobs []found, by string) (func(*found) [3]float64, error) {
	one := func(figure float64) [3]float64 { return [3]float64{figure} }
	or := func(figure float64, known bool) [3]float64 {
		if !known {
			figure = noFigure
		}
		return one(figure)
	}
	switch by {
	case orderAttention:
		return s.attention(ctx, jobs)
	case orderNext:
		return func(f *found) [3]float64 { return or(float64(f.due), f.fires()) }, nil
	case orderLast:
		if len(jobs) == 0 {
			return func(*found) [3]float64 { return one(noFigure) }, nil
		}
		last, err := s.store.LastRuns(ctx, namesOf(jobs), 1)
		if err != nil {
			return nil, problem.StoreAway(err)
		}
		return func(f *found) [3]float64 {
			runs := last[f.name]
			if len(runs) == 0 {
				return one(noFigure)
			}
			return one(float64(runs[0].FireTime.UnixMilli()))
		}, nil
	case orderSuccess, orderP95:
		week, err := s.week.call(ctx)
		if err != nil {
			return nil, err
		}
		return func(f *found) [3]float64 {
			w := week[f.name]
			if by == orderP95 {
				return or(float64(w.P95Ms), w.P95Ms > 0)
			}
			if w.SuccessRate == nil {
				return one(noFigure)
			}
			return one(*w.SuccessRate)
		}, nil
	case orderOwner:
		return func(f *found) [3]float64 { return or(0, f.owner != "") }, nil
	case orderChanged:
		return func(f *found) [3]float64 { return one(float64(f.changed)) }, nil
	case orderVersion:
		return func(f *found) [3]float64 { return one(float64(f.version)) }, nil
	}
	return func(*found) [3]float64 { return one(0) }, nil
}

// attention returns the keys of jobs by whether they need somebody: first those that
// have failed, by how often in a row; then those that run longer than they usually do;
// then by when they fire next. It does not wait for what is usual.
func (s *Search) attention(ctx context.Context, jobs []found) (func(*found) [3]float64, error) {
	if err := s.addStandings(ctx, jobs); err != nil {
		return nil, err
	}
	week, now := s.week.known(ctx), time.Now()
	return func(f *found) [3]float64 {
		figures := [3]float64{-float64(f.standing.Streak), 0, noFigure}
		if s := &f.standing; s.Status == job.StatusRunning && !s.StartedAt.IsZero() {
			if usual := week[f.name].P95Ms; usual > 0 {
				if over := float64(now.Sub(s.StartedAt).Milliseconds()) / float64(usual); over > 1 {
					figures[1] = -over
				}
			}
		}
		if f.fires() {
			figures[2] = float64(f.due)
		}
		return figures
	}, nil
}
