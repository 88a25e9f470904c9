package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// maxLines bounds how far the lines of one answer may reach.
const maxLines = 1 << 30

// LogRequest asks for the lines of a run's log from a line on, which counts from 1. The time is that
// of the run.
func LogRequest(logID int64, at time.Time, from int) []byte {
	ms := at.UnixMilli()
	return encode(struct {
		LogID int64 `json:"logId"`
		Old   int64 `json:"logDateTim"` // of dialects A and B, which write it so
		New   int64 `json:"logDateTime"`
		From  int   `json:"fromLineNum"`
	}{logID, ms, ms, from})
}

// Log is what an executor answers to that.
type Log struct {
	Lines []string
	// Next is the number of the first line that is not among them.
	Next int
	// End says that no line follows. Few executors say so.
	End bool
	// Missing says that the executor has no such log: the run has not begun there, or the file is
	// gone.
	Missing bool
	// Dialect is what the place of the log says of who wrote it; "" if nothing.
	Dialect Dialect
}

// ReadLog reads the lines of a log that was asked for from a line on. Next is never before that line,
// and there are never more Lines than it says, whatever the executor does. The error is an *InvalidError.
func ReadLog(body []byte, from int) (Log, error) {
	a, err := ReadAnswer(body)
	if err != nil {
		return Log{}, err
	}
	if a.Code != CodeOK {
		return Log{}, &job.InvalidError{Field: "log", Reason: fmt.Sprintf("was refused with code %d: %s", a.Code, a.Msg)}
	}
	if a.Payload == nil {
		return Log{}, &job.InvalidError{Field: "log", Reason: "is not in the answer, which has neither content nor data"}
	}
	var in struct {
		To      code `json:"toLineNum"`
		Content text `json:"logContent"`
		End     flag `json:"isEnd"`
	}
	if err := json.Unmarshal(a.Payload, &in); err != nil {
		return Log{}, &job.InvalidError{Field: "log", Reason: fmt.Sprintf("has no lines: %v", err)}
	}
	l := Log{Next: from, End: bool(in.End), Dialect: dialectOf(body)}
	to := int(in.To)
	if to < from {
		l.Missing = l.End
		return l, nil
	}
	content := strings.TrimSuffix(string(in.Content), "\n")
	l.Lines, l.Next = strings.Split(content, "\n"), min(to, from+maxLines)+1
	if n := l.Next - from; len(l.Lines) > n { // each must have a number
		l.Lines = append(l.Lines[:n-1:n-1], strings.Join(l.Lines[n-1:], " "))
	}
	return l, nil
}

// dialectOf returns what the place of the payload says of who wrote it.
func dialectOf(body []byte) Dialect {
	var in struct {
		Content json.RawMessage `json:"content"`
		Data    json.RawMessage `json:"data"`
	}
	switch err := json.Unmarshal(body, &in); {
	case err != nil, !isNull(in.Data) && !isNull(in.Content): // who sends both is none of them
	case !isNull(in.Data):
		return DialectB
	case !isNull(in.Content):
		return DialectA
	}
	return ""
}
