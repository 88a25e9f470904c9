package logstore

import (
	"math"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of the usage of a group.
const (
	DefaultUsageParts = 60
	MaxUsageParts     = 240
	maxUsage          = 31 * Day
	// usageBefore is how long before a range runs may have fired that are looked at for it.
	usageBefore = Day
)

// UsageFilter asks how busy an executor group was, or how many runs of a job there were at once, over
// time.
type UsageFilter struct {
	Group    string
	Job      job.Name // of the group; empty is all of them
	From, To time.Time
	Parts    int // into which the range is divided: from 1 to MaxUsageParts
	// Now is until when what has not ended has waited or run so far. Parts that begin later are
	// left out. Defaults to To.
	Now time.Time
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *UsageFilter) Validate() error {
	runs := RunFilter{Jobs: f.jobs(), Group: f.Group, From: f.From, To: f.To}
	switch {
	case f.Group == "":
		return job.Invalid("group", "is missing")
	case f.Job != "" && f.Job.Group() != f.Group:
		return job.Invalid("job", "%q must be a job of group %s", f.Job, f.Group)
	case f.Parts < 1 || f.Parts > MaxUsageParts:
		return job.Invalid("parts", "must be from 1 to %d", MaxUsageParts)
	case !f.Now.IsZero() && !f.From.Before(f.Now):
		return job.Invalid("from", "must lie before now")
	case f.To.Sub(f.From) > maxUsage:
		return job.Invalid("to", "must lie within 31 days of from")
	}
	return runs.CheckHistogram(f.Parts)
}

func (f *UsageFilter) jobs() []job.Name {
	if f.Job == "" {
		return nil
	}
	return []job.Name{f.Job}
}

// End is the end of the range, as far as it has come.
func (f *UsageFilter) End() time.Time {
	if f.Now.IsZero() || f.Now.After(f.To) {
		return f.To
	}
	return f.Now
}

// Alive are the statuses of runs that count however long ago they fired.
var Alive = []job.Status{job.StatusPending, job.StatusRunning}

// Fired selects the runs that count by when they fired: not long before the range, or in it.
func (f *UsageFilter) Fired() RunFilter {
	return RunFilter{Jobs: f.jobs(), Group: f.Group, From: f.From.Add(-usageBefore), To: f.To, AllAttempts: true}
}

// FiredBefore selects those that fired earlier than these. They count while they are alive,
// and those of a backfill if they were committed in the range of Fired, too.
func (f *UsageFilter) FiredBefore() RunFilter {
	return RunFilter{Jobs: f.jobs(), Group: f.Group, To: f.From.Add(-usageBefore)}
}

// Usage adds up how busy a group or a job was, from spans: times that a run waited, or that something of
// it took a slot. What happens between the edges of two parts follows from how many spans begin
// and end there, and from the sums of when they do, so a store adds those up by itself.
type Usage struct {
	edges       []int64   // where parts begin and the last ends, in milliseconds
	end         int64     // of the range, as far as it has come
	waits, runs []changes // the first is before the range, the last after it
	since       []int64   // when the first began to wait that did so at the end of a part; 0 if none did
	longest     []int64   // how long one waited that ceased to in a part
}

// changes are spans that begin and that end in a part, and the sums of when they do.
type changes struct{ begun, begunAt, ended, endedAt int64 }

// NewUsage returns one without spans, for a filter that was validated.
func NewUsage(f *UsageFilter) *Usage {
	u := &Usage{
		end: f.End().UnixMilli(), edges: make([]int64, f.Parts+1), waits: make([]changes, f.Parts+2), runs: make([]changes, f.Parts+2),
		since: make([]int64, f.Parts), longest: make([]int64, f.Parts),
	}
	from, to, n := f.From.UnixMilli(), f.To.UnixMilli(), int64(f.Parts)
	for i := range u.edges {
		u.edges[i] = from + ((to-from)*int64(i)+n-1)/n
	}
	return u
}

// Spans are spans that begin in one part of a range and end in one: part 0 is before the range,
// 1 the first of it, and the one after the last is for what ends later or has not yet.
type Spans struct {
	Ran         bool // else they waited
	First, Last int  // the parts in which they begin and end
	Count       int64
	Begun       int64 // the sum of when they begin, in milliseconds since the range does, which is 0 for those before it
	Ended       int64 // the sum of when they end; what ends after the range, as far as it has come, ends with it
	Since       int64 // when the first begins, in milliseconds since 1970
	Longest     int64 // how long the longest of those is that end in the range
}

// Add adds spans that end no earlier than the range begins, and begin before it ends.
func (u *Usage) Add(s *Spans) {
	of, parts := u.waits, len(u.since)
	if s.Ran {
		of = u.runs
	}
	of[s.First].begun += s.Count
	of[s.First].begunAt += s.Begun
	of[s.Last].ended += s.Count
	of[s.Last].endedAt += s.Ended
	if s.Ran {
		return
	}
	for part := max(s.First, 1); part < s.Last; part++ {
		if at := &u.since[part-1]; *at == 0 || s.Since < *at {
			*at = s.Since
		}
	}
	if s.Last >= 1 && s.Last <= parts {
		u.longest[s.Last-1] = max(u.longest[s.Last-1], s.Longest)
	}
}

// Parts returns what the spans add up to.
func (u *Usage) Parts() []runlog.UsagePart {
	parts := make([]runlog.UsagePart, 0, len(u.since))
	waiting, running := u.waits[0].begun, u.runs[0].begun // how many there are where the part begins
	for i := range u.since {
		begin, end := u.edges[i], min(u.edges[i+1], u.end)
		if begin >= end {
			break
		}
		part := runlog.UsagePart{
			At: time.UnixMilli(begin).UTC(), Waiting: u.average(&waiting, u.waits[i+1], begin, end), SlotsInUse: u.average(&running, u.runs[i+1], begin, end),
			LongestWait: u.longest[i], Started: int(u.runs[i+1].begun), Ended: int(u.runs[i+1].ended),
		}
		if u.since[i] != 0 {
			part.LongestWait = max(part.LongestWait, end-u.since[i])
		}
		parts = append(parts, part)
	}
	return parts
}

// average returns how many spans there were at a time in a part, on average: the time of all of
// them that lies in the part, by its length. there is how many there were at its begin, and then
// how many there are at its end.
func (u *Usage) average(there *int64, c changes, begin, end int64) float64 {
	until := end - u.edges[0]
	total := *there*(end-begin) + c.begun*until - c.begunAt - (c.ended*until - c.endedAt)
	*there += c.begun - c.ended
	return math.Round(1000*float64(total)/float64(end-begin)) / 1000
}
