package month

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// mostNamed is how many lines a list of a mail has, and longestLine how many characters a line.
const (
	mostNamed   = 20
	longestLine = 300
)

// words are what the text of a report is made of. The console has the same, see
// frontend/src/i18n/en/month.ts.
type words struct {
	intro, since                                                   string
	figures, ended, ran, failed, skipped, missed, success          string
	late, waited, duration                                         string
	targets, met, unmet, reasons, failures, slowest, changes, more string
	operations                                                     map[string]string
}

var english = &words{
	intro:   "%d jobs now. Times are in %s. The month before is in brackets.",
	since:   "Reasons and failures are not known of runs before %s, which are no longer kept.",
	figures: "Figures", ended: "Fires and other runs", ran: "Ran", failed: "Failed", skipped: "Skipped", missed: "Missed", success: "Success rate",
	late: "Fired late", waited: "Waited", duration: "Duration",
	targets: "Targets", met: "met", unmet: "missed", reasons: "Why fires did not run", failures: "Failed attempts by cause", slowest: "Slowest jobs, duration p95", changes: "What changed", more: "There are more.",
	operations: map[string]string{
		putJob: "saved", "deleteJob": "deleted", "putGroup": "set the limits of", "putCalendar": "saved", "deleteCalendar": "deleted",
	},
}

var chinese = &words{
	intro:   "现有 %d 个任务。时间采用时区 %s。括号中为上一个月的数值。",
	since:   "%s 之前的运行已不再保留，其原因和失败未计入。",
	figures: "指标", ended: "触发和其他运行", ran: "已运行", failed: "失败", skipped: "已跳过", missed: "已错过", success: "成功率",
	late: "触发延迟", waited: "等待", duration: "耗时",
	targets: "目标", met: "达标", unmet: "未达标", reasons: "未运行的原因", failures: "失败的尝试（按原因）", slowest: "最慢的任务（耗时 p95）", changes: "变更", more: "还有更多。",
	operations: map[string]string{
		putJob: "保存", "deleteJob": "删除", "putGroup": "设置限制", "putCalendar": "保存", "deleteCalendar": "删除",
	},
}

// Text returns a report as a mail has it, in the language and zone of its reader.
func Text(m *api.MonthReport, r alerting.Reader) string {
	w := english
	if r.Language == alerting.Chinese {
		w = chinese
	}
	t := &text{words: w, reader: r}
	t.line(w.intro, m.Jobs, m.Zone)
	if !m.RunsSince.IsZero() {
		t.line(w.since, r.Instant(m.RunsSince))
	}
	t.total(&m.Total, &m.Before)
	t.targets(m.Targets)
	list(t, w.reasons, m.Reasons, func(x *api.MonthReason) string {
		return r.Status(x.Status) + ", " + orDash(r.Reason(string(x.Reason))) + beside(strconv.Itoa(x.Fires), strconv.Itoa(x.Before))
	})
	list(t, w.failures, m.Failures, func(x *api.MonthFailure) string {
		return orDash(x.Failure.Fingerprint) + beside(strconv.Itoa(x.Failure.Attempts), strconv.Itoa(x.Before))
	})
	list(t, w.slowest, m.Slowest, func(x *api.MonthJob) string {
		return string(x.Job) + beside(took(x.Total.Duration, p95), took(x.Before.Duration, p95))
	})
	t.changes(m)
	return t.String()
}

type text struct {
	strings.Builder
	words  *words
	reader alerting.Reader
}

// line adds a line. Names and messages that others have written cannot make it two.
func (t *text) line(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	_, _ = t.WriteString(clip.Runes(strings.Join(strings.Fields(line), " "), longestLine) + "\n")
}

// list adds a list with its title, unless it is empty.
func list[T any](t *text, title string, items []T, line func(*T) string) {
	if len(items) == 0 {
		return
	}
	_, _ = t.WriteString("\n" + title + "\n")
	for i := range items[:min(len(items), mostNamed)] {
		t.line("- %s", line(&items[i]))
	}
	if len(items) > mostNamed {
		t.line("- %s", t.words.more)
	}
}

// figure is a value of the month, and of the month before.
type figure struct {
	name string
	of   func(*runlog.ReportRow) string
}

func (t *text) total(month, before *runlog.ReportRow) {
	w := t.words
	counted := func(of func(*runlog.ReportRow) int) func(*runlog.ReportRow) string {
		return func(r *runlog.ReportRow) string { return strconv.Itoa(of(r)) }
	}
	status := func(s job.Status) func(*runlog.ReportRow) string {
		return counted(func(r *runlog.ReportRow) int { return r.Statuses[s] })
	}
	list(t, w.figures, []figure{
		{w.ended, counted(func(r *runlog.ReportRow) int { return r.Runs })},
		{w.ran, counted(func(r *runlog.ReportRow) int {
			return r.Runs - r.Statuses[job.StatusSkipped] - r.Statuses[job.StatusMissed]
		})},
		{w.failed, counted((*runlog.ReportRow).Failed)},
		{w.skipped, status(job.StatusSkipped)},
		{w.missed, status(job.StatusMissed)},
		{w.success, percent},
		{w.late + " p50", func(r *runlog.ReportRow) string { return took(r.Committed, p50) }},
		{w.late + " p99", func(r *runlog.ReportRow) string { return took(r.Committed, p99) }},
		{w.waited + " p50", func(r *runlog.ReportRow) string { return took(r.Started, p50) }},
		{w.waited + " p99", func(r *runlog.ReportRow) string { return took(r.Started, p99) }},
		{w.duration + " p50", func(r *runlog.ReportRow) string { return took(r.Duration, p50) }},
		{w.duration + " p99", func(r *runlog.ReportRow) string { return took(r.Duration, p99) }},
	}, func(f *figure) string { return f.name + beside(f.of(month), f.of(before)) })
}

func (t *text) targets(jobs []api.MonthJob) {
	verdicts := map[bool]string{true: t.words.met, false: t.words.unmet}
	list(t, t.words.targets, jobs, func(x *api.MonthJob) string {
		return string(x.Job) + ", " + verdicts[x.Total.Target.Met] + beside(percent(&x.Total), percent(&x.Before))
	})
}

func (t *text) changes(m *api.MonthReport) {
	list(t, t.words.changes, m.Changes, func(x *api.MonthChange) string {
		line := fmt.Sprintf("%s %s %s %s", x.At.In(t.reader.Zone).Format("01-02 15:04"), x.User, t.words.operations[x.Operation], x.Object)
		if x.Note != "" {
			line += ": " + x.Note
		}
		return line
	})
	if m.MoreChanges {
		t.line("- %s", t.words.more)
	}
}

// beside returns a value with that of the month before in brackets.
func beside(month, before string) string { return ": " + month + " (" + before + ")" }

func percent(r *runlog.ReportRow) string {
	if r.SuccessRate == nil {
		return none
	}
	return strconv.FormatFloat(*r.SuccessRate*100, 'f', 2, 64) + "%"
}

// none is a value that there is not.
const none = "-"

func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}

func p50(s *runlog.Spread) time.Duration { return s.P50 }
func p95(s *runlog.Spread) time.Duration { return s.P95 }
func p99(s *runlog.Spread) time.Duration { return s.P99 }

func took(s runlog.Spread, p func(*runlog.Spread) time.Duration) string {
	if s.Count == 0 {
		return none
	}
	d := p(&s)
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
