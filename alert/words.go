package alert

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// words are what messages are made of besides the sentences of package alerting.
type words struct {
	incident, rule, severity, since, resolved, acknowledgedBy, times, job, and string

	run                string
	otherJob           string
	otherJobs          string // of more than one
	colon, comma, open string
	openTitle          string
	resolvedTitle      string
	closedTitle        string
	severities         map[alerting.Severity]string
}

var english = &words{
	incident: "incident", rule: "alert", severity: "severity", since: "since", resolved: "resolved",
	acknowledgedBy: "acknowledged by", times: "times", job: "job", and: "and",
	run: "run ", otherJob: "1 other job", otherJobs: "%d other jobs",
	colon: ": ", comma: ", ", open: "Open in Carillon",
	openTitle: "Still open: ", resolvedTitle: "Resolved: ", closedTitle: "Closed: ",
	severities: map[alerting.Severity]string{alerting.Info: "info", alerting.Warning: "warning", alerting.Critical: "critical"},
}

var chinese = &words{
	incident: "告警编号", rule: "告警规则", severity: "级别", since: "开始时间", resolved: "恢复时间",
	acknowledgedBy: "认领人", times: "异常次数", job: "任务", and: "另有",
	run: "运行 ", otherJob: "1 个任务", otherJobs: "%d 个任务",
	colon: "：", comma: "，", open: "在 Carillon 中查看",
	openTitle: "仍未恢复：", resolvedTitle: "已恢复：", closedTitle: "已关闭：",
	severities: map[alerting.Severity]string{alerting.Info: "提示", alerting.Warning: "警告", alerting.Critical: "严重"},
}

// others returns a number of jobs that are not listed.
func (w *words) others(n int) string {
	if n == 1 {
		return w.otherJob
	}
	return fmt.Sprintf(w.otherJobs, n)
}

func wordsOf(l alerting.Language) *words {
	if l == alerting.Chinese {
		return chinese
	}
	return english
}

// status writes the status of a run: in English as everywhere.
func (w *words) status(s job.Status) string {
	if w == chinese {
		return alerting.Reader{Language: alerting.Chinese}.Status(s)
	}
	return string(s)
}
