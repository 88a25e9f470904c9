package runs

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Bounds of what is found in a log; the contract states them.
const (
	mostFound = 10_000
	findFor   = 5 * time.Second
)

// Finder says which lines of a log are looked for.
type Finder struct {
	pattern *regexp.Regexp // nil: none
	levels  map[string]bool
}

// NewFinder returns a finder of lines of the given levels, or of any, that have a text, whatever its
// case, or what an expression matches. Without a text it finds none. The error is an *InvalidError.
func NewFinder(text string, isRegex bool, levels []string) (Finder, error) {
	f := Finder{levels: map[string]bool{}}
	for _, l := range levels {
		f.levels[l] = true
	}
	if text == "" {
		return f, nil
	}
	if !isRegex {
		text = regexp.QuoteMeta(text)
	}
	pattern, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return f, job.Invalid("text", "%q must be a regular expression, as RE2 has them", text)
	}
	f.pattern = pattern
	return f, nil
}

// escapes are sequences for a terminal. A line is looked at without them, as it is shown.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)

func (f *Finder) finds(l *runlog.Line) bool {
	if f.pattern == nil || len(f.levels) > 0 && !f.levels[l.Level] {
		return false
	}
	text := l.Text
	if strings.Contains(text, "\x1b") {
		text = escapes.ReplaceAllString(text, "")
	}
	return f.pattern.MatchString(text)
}

// FindLines counts the lines of a log by level, and finds lines in it. It looks at the whole log, or
// at as much of it as there is time for.
func FindLines(ctx context.Context, store logstore.Store, log logstore.LineFilter, find Finder) (api.LogFind, error) {
	found := api.LogFind{Levels: map[string]int{}, Seqs: []int64{}, Complete: true}
	begun := time.Now()
	log.Limit = logstore.MaxLines
	for log.FromSeq = 1; ; log.FromSeq = found.LastSeq + 1 {
		lines, err := store.Lines(ctx, log)
		if err != nil {
			return found, err
		}
		for i := range lines {
			l := &lines[i]
			found.Levels[l.Level]++
			found.LastSeq = l.Seq
			if !find.finds(l) {
				continue
			}
			if found.Total++; len(found.Seqs) < mostFound {
				found.Seqs = append(found.Seqs, l.Seq)
			}
		}
		if len(lines) < log.Limit {
			return found, nil
		}
		if time.Since(begun) > findFor {
			found.Complete = false
			return found, nil
		}
	}
}
