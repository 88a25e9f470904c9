package xxlstandin

import "strings"

// logTo returns what adds a line to the log of a run.
func (e *Executor) logTo(run int64) func(line string) {
	return func(line string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.logs.add(run, line)
	}
}

// mostLogs is how many logs are kept.
const mostLogs = 10_000

// logBook has the newest logs, by run.
type logBook struct {
	lines map[int64][]string
	order []int64 // oldest first
}

func (b *logBook) add(run int64, line string) {
	if b.lines == nil {
		b.lines = map[int64][]string{}
	}
	if _, ok := b.lines[run]; !ok {
		if b.order = append(b.order, run); len(b.order) > mostLogs {
			delete(b.lines, b.order[0])
			b.order = b.order[1:]
		}
	}
	b.lines[run] = append(b.lines[run], line)
}

// rolling is a part of a log, as an answer has it.
type rolling struct {
	From    int    `json:"fromLineNum"` // lines count from 1
	To      int    `json:"toLineNum"`
	Content string `json:"logContent"`
	IsEnd   bool   `json:"isEnd"`
}

// read returns the lines of a run from one on, at most so many of them if most is not 0.
func (b *logBook) read(run int64, from, most int) rolling {
	all, ok := b.lines[run]
	if !ok {
		return rolling{From: from, Content: "readLog fail, logFile not exists", IsEnd: true}
	}
	if last := max(from, 1) - 1 + most; most > 0 && last < len(all) {
		all = all[:last]
	}
	var text strings.Builder
	for _, line := range all[min(max(from, 1)-1, len(all)):] {
		text.WriteString(line + "\n")
	}
	return rolling{From: from, To: len(all), Content: text.String()}
}
