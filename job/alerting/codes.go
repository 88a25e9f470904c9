package alerting

import "github.com/carillon-scheduler/carillon/job"

// text is a sentence in all languages, with places for its parameters.
type text struct {
	params           string // their names
	english, chinese string
}

// codes is the one table of what alerts tell people: what an incident is about, why it is
// over, what was bad of a job, why a message waits or was not sent, and what the built-in
// rules are for. The console has a copy, see TestTheConsoleHasTheSameSentences.
var codes = map[Code]text{
	"run_ended": {
		"job status others",
		"{job} {status}[, and {others} other {others|job|jobs}]",
		"任务 {job} {status}[，另有 {others} 个任务异常]",
	},
	"run_ended_in_a_row": {
		"job status count others",
		"{job} {status}, {count} times in a row[, and {others} other {others|job|jobs}]",
		"任务 {job} 连续 {count} 次{status}[，另有 {others} 个任务异常]",
	},
	"run_slow": {
		"job took usual others",
		"{job} took {took}, longer than usual: 95 % of its runs take {usual} at most[, and {others} other {others|job|jobs}]",
		"任务 {job} 运行了 {took}，慢于平时：95% 的运行不超过 {usual}[，另有 {others} 个任务异常]",
	},
	"run_not_begun": {
		"job limit others",
		"{job} has not started {limit} after its fire time[, and {others} other {others|job|jobs}]",
		"任务 {job} 在触发时间过去 {limit} 后仍未开始运行[，另有 {others} 个任务异常]",
	},
	"run_not_ended": {
		"job limit others",
		"{job} has not ended {limit} after its fire time[, and {others} other {others|job|jobs}]",
		"任务 {job} 在触发时间过去 {limit} 后仍未结束[，另有 {others} 个任务异常]",
	},
	"run_will_end_late": {
		"job limit usual expected others",
		"{job} will likely not end within {limit} of its fire time: half of its runs take {usual} or less, so it is expected to end at {expected}[, and {others} other {others|job|jobs}]",
		"任务 {job} 预计无法在触发后 {limit} 内结束：半数运行耗时不超过 {usual}，预计结束时间 {expected}[，另有 {others} 个任务异常]",
	},
	"run_began_late": {
		"job limit others",
		"{job} did not start within {limit}[, and {others} other {others|job|jobs}]",
		"任务 {job} 未在 {limit} 内开始运行[，另有 {others} 个任务异常]",
	},
	"run_ended_late": {
		"job limit others",
		"{job} did not end within {limit}[, and {others} other {others|job|jobs}]",
		"任务 {job} 未在 {limit} 内结束[，另有 {others} 个任务异常]",
	},
	"runs_unasked": {
		"job count others",
		"pings reported {count} runs of {job} within an hour that no fire asked for[, and {others} other {others|job|jobs}]",
		"任务 {job} 在一小时内由 ping 上报了 {count} 次没有对应触发的运行[，另有 {others} 个任务异常]",
	},
	"never_heard": {
		"job saved others",
		"nobody has pinged {job} since it was saved at {saved}[, and {others} other {others|job|jobs}]",
		"任务 {job} 自 {saved} 保存以来从未收到 ping[，另有 {others} 个任务异常]",
	},
	"discrepancy": {
		"job others",
		"the ledger of {job} has a discrepancy[, and {others} other {others|job|jobs}]",
		"任务 {job} 的触发台账出现差异[，另有 {others} 个任务异常]",
	},
	"no_executor": {
		"group",
		"group {group} has jobs, but no executor to run them",
		"分组 {group} 有任务，但没有在线的执行器",
	},
	"stream_full": {
		"stream percent",
		"stream {stream} is {percent} % full; at 100 % it refuses new messages",
		"消息流 {stream} 已占用 {percent}%，占满后将拒绝写入",
	},
	"lines_waiting": {
		"stream percent",
		"stream {stream} is {percent} % full of lines that wait for the log store; at 100 % the oldest lines are lost",
		"消息流 {stream} 中等待写入日志存储的日志已占 {percent}%，占满后最早的日志会丢失",
	},
	"store_full": {
		"percent free",
		"the disk of the log store is {percent} % full, with {free} GB free; at 100 % history waits in NATS; \"carillon retention\" shows what is kept",
		"日志存储的磁盘已占用 {percent}%，剩余 {free} GB；占满后历史会积压在消息流中，保留规则见 carillon retention",
	},
	"message_refused": {
		"group reason",
		"a message[ of group {group}] was refused: {reason}",
		"[分组 {group} 的]一条消息被拒绝：{reason}",
	},
	"messages_refused": {
		"count group reason",
		"{count} messages[ of group {group}] were refused, the last one because: {reason}",
		"[分组 {group} 的 ]{count} 条消息被拒绝，最近一条：{reason}",
	},
	"shards_parked": {
		"shards count reason",
		"no job of {count|shard|shards} {shards} fires: {reason}",
		"分区 {shards} 的任务不会触发：{reason}",
	},
	"clock_ahead": {
		"node apart",
		"the clock of server {node} is {apart} ahead of NATS' clock, so other servers fire its jobs",
		"服务器 {node} 的时钟比 NATS 快 {apart}，该服务器已停止触发，由其他服务器接管",
	},
	"clock_behind": {
		"node apart",
		"the clock of server {node} is {apart} behind NATS' clock, so other servers fire its jobs",
		"服务器 {node} 的时钟比 NATS 慢 {apart}，该服务器已停止触发，由其他服务器接管",
	},
	"instance_clock_ahead": {
		"instance group apart",
		"the clock of executor instance {instance} of group {group} is {apart} ahead of NATS' clock; check NTP on its machine",
		"执行器分组 {group} 的实例 {instance} 的时钟比 NATS 快 {apart}，请检查其机器的 NTP",
	},
	"instance_clock_behind": {
		"instance group apart",
		"the clock of executor instance {instance} of group {group} is {apart} behind NATS' clock; check NTP on its machine",
		"执行器分组 {group} 的实例 {instance} 的时钟比 NATS 慢 {apart}，请检查其机器的 NTP",
	},
	"nats_clock_ahead": {
		"node apart",
		"the clock of NATS is wrong, so servers fire by their own clocks: NATS is {apart} ahead of server {node}",
		"多数服务器认为 NATS 的时钟有误，改按自身时钟触发：NATS 比服务器 {node} 快 {apart}",
	},
	"nats_clock_behind": {
		"node apart",
		"the clock of NATS is wrong, so servers fire by their own clocks: NATS is {apart} behind server {node}",
		"多数服务器认为 NATS 的时钟有误，改按自身时钟触发：NATS 比服务器 {node} 慢 {apart}",
	},
	"over_budget": {
		"group until",
		"executors of group {group} send more than their budget: NATS refuses them until {until}",
		"分组 {group} 的执行器发送量超出配额，NATS 在 {until} 之前拒绝其连接",
	},
	"too_many_wait": {
		"group megabytes runs",
		"too many runs of group {group} wait for an executor ({runs}, about {megabytes} MB): further fires are missed",
		"分组 {group} 等待执行的运行过多（{runs} 次，约 {megabytes} MB），之后的触发将错过",
	},
	"keeps_too_much": {
		"group bucket keys max until",
		"executors of group {group} keep {keys} keys in the bucket {bucket}, of at most {max}: NATS refuses them until {until}, and the oldest keys are removed",
		"分组 {group} 的执行器在键值桶 {bucket} 中保留了 {keys} 个键，超出上限 {max}：NATS 在 {until} 之前拒绝其连接，并删除最旧的键",
	},
	"gives_back_too_fast": {
		"group times until",
		"executors of group {group} gave triggers back without a delay, {times} times within 10s: NATS refuses them until {until}",
		"分组 {group} 的执行器在 10 秒内 {times} 次不加延迟地退回触发，NATS 在 {until} 之前拒绝其连接",
	},
	"target_rate_missed": {
		"job failures allowed runs target others",
		"{job} misses its target: {failures} of {runs} scheduled runs of the last 30 days did not succeed; {target} % allows {allowed}[, and {others} other {others|job|jobs}]",
		"任务 {job} 未达标：最近 30 天的 {runs} 次调度运行有 {failures} 次未成功，目标 {target}% 最多允许 {allowed} 次[，另有 {others} 个任务异常]",
	},
	"target_delay_missed": {
		"job delay target others",
		"{job} misses its target: 5 % of the scheduled runs of the last 30 days started at least {delay} late; the target is {target}[, and {others} other {others|job|jobs}]",
		"任务 {job} 未达标：最近 30 天有 5% 的调度运行启动延迟达到或超过 {delay}，目标为不超过 {target}[，另有 {others} 个任务异常]",
	},
	"approval_wanted": {
		"job step by until",
		"{job}: step {step} waits for approval by {by}[ until {until}]",
		"任务 {job}：步骤 {step} 等待 {by} 审批[，截止 {until}]",
	},
	"channel_test": {
		"channel by",
		"This is a test of channel {channel}, sent by {by}",
		"这是渠道 {channel} 的测试消息，由 {by} 发送",
	},
	"month_report": {
		"month group owner tag",
		"Report of {month}[, group {group}][, owner {owner}][, tag {tag}]",
		"{month} 月报[，分组 {group}][，负责人 {owner}][，标签 {tag}]",
	},

	"job_succeeded": {"job", "{job} succeeded", "任务 {job} 执行成功"},
	"job_started":   {"job", "{job} has started", "任务 {job} 已开始运行"},
	"target_met":    {"", "the target is met again, or was removed", "已重新达标，或目标已移除"},
	"all_well":      {"", "the condition no longer holds", "已恢复正常"},
	"executor_back": {"group", "group {group} has an executor again", "分组 {group} 已有执行器在线"},
	"stream_level":  {"stream percent", "stream {stream} is {percent} % full", "消息流 {stream} 占用降至 {percent}%"},
	"store_level":   {"percent free", "the disk of the log store is {percent} % full, with {free} GB free", "日志存储的磁盘占用降至 {percent}%，剩余 {free} GB"},
	"shards_store":  {"", "NATS stores the data of all shards again", "所有分区已恢复存储"},
	"clocks_right":  {"", "the clock is right again, or the server is gone", "时钟已恢复正常，或该服务器已下线"},
	"ledger_healed": {"", "the missing records of the ledger have arrived", "触发台账中缺失的记录已补齐"},
	"approval_over": {"step status reason", "step {step} {status}[: {reason}]", "步骤 {step} {status}[：{reason}]"},
	"rule_gone":     {"rule", "alert {rule} was deleted or disabled", "告警规则 {rule} 已删除或停用"},
	"resolved_by":   {"by", "resolved by {by}", "由 {by} 解决"},
	"was_report":    {"", "it was a report", "这是一份月报"},
	"was_test":      {"", "it was a test", "这是一条测试消息"},

	"fired_at": {"fire_time", "fired at {fire_time}", "触发时间 {fire_time}"},
	"fire_of":  {"fire_time reason", "fire of {fire_time}: {reason}", "{fire_time} 的触发：{reason}"},

	"channel_gone":     {"", "the channel no longer exists", "该渠道已不存在"},
	"channel_disabled": {"", "the channel is disabled", "该渠道已停用"},
	"silenced_by":      {"by until", "silenced by {by} until {until}", "已由 {by} 静默至 {until}"},
	"quiet_hours":      {"", "quiet hours", "处于免打扰时段"},
	"over_before_sent": {"error", "the alert was over before the message could be sent[; {error}]", "发送之前告警已恢复"},
	"acknowledged_by":  {"by", "acknowledged by {by}", "已由 {by} 认领"},
	"snoozed_by":       {"by", "snoozed by {by}", "已由 {by} 暂缓"},
	"snooze_ended":     {"", "the snooze has ended", "暂缓已结束"},
	"answered":         {"answer body", "answered {answer}: [{body}]", "对方响应 {answer}[：{body}]"},
	"redirected":       {"answer", "answered {answer}: redirects are not followed", "对方响应 {answer}：不跟随重定向"},
	"chat_refused":     {"code text", "refused with code {code}: [{text}]", "对方拒绝，错误码 {code}[：{text}]"},
	"no_answer":        {"", "the receiver did not answer in time", "对方未及时响应"},
	"secret_missing":   {"secret", "the channel has no secret \"{secret}\" yet", "渠道尚未设置密钥 {secret}"},
	"secret_closed":    {"secret", "the channel's secret \"{secret}\" was encrypted with another master key; set it again", "渠道密钥 {secret} 是用另一个主密钥加密的，请重新设置"},
	"no_master_key":    {"", "this server has no master key to decrypt the channel's secrets", "该服务器没有主密钥，无法解密渠道的密钥"},
	"not_sent":         {"error", "{error}", "发送失败：{error}"},

	"rule_dead_letters": {
		"",
		"Servers refused messages about runs. \"carillon get dead-letters\" lists them with their reasons.",
		"服务器拒绝了与运行有关的消息。用 carillon get dead-letters 查看这些消息及原因。",
	},
	"rule_streams_nearly_full": {
		"",
		"A NATS stream is nearly full. A full TRIG or EVT refuses messages, and a full LOG drops its oldest lines. Raise the limit of the stream, or find out who fills it.",
		"NATS 消息流即将占满。TRIG 或 EVT 占满后会拒绝消息，LOG 占满后会丢弃最早的日志。请调高消息流的上限，或查明是谁在写入。",
	},
	"rule_streams_full": {
		"",
		"A NATS stream is full, or will be soon. No run is triggered while TRIG is 90 % full, and no result is reported while EVT is full. Raise the limit of the stream.",
		"NATS 消息流已占满，或即将占满。TRIG 占用达 90% 时无法触发运行，EVT 占满时无法上报结果。请调高消息流的上限。",
	},
	"rule_shards_parked": {
		"",
		"The jobs of a shard do not fire: NATS refuses what it has to store, a newer server saved one of its jobs, or its position is ahead of the clock. The incident says what to do.",
		"某个分区的任务不会触发：NATS 拒绝存储其数据、其任务由较新的服务器保存，或其位置超前于时钟。告警中会说明处理方法。",
	},
	"rule_clocks_wrong": {
		"",
		"The clock of a machine is wrong. The server on it stops firing, and other servers fire its jobs. Check NTP on that machine.",
		"某台机器的时钟偏差过大。该机器上的服务器会停止触发，由其他服务器接管。请检查该机器的 NTP。",
	},
	"rule_groups_over_budget": {
		"",
		"A group has more than its share. Its executors sent more than their budget, kept too much in a bucket or gave triggers back without a delay, so that NATS disconnected them for a while; or too many of its runs wait, so that its fires are missed. Find out what they send, or start executors.",
		"某分组超出配额：其执行器发送量过大、在键值桶中保留过多，或不加延迟地退回触发，NATS 会断开其连接并在一段时间内拒绝重连；或其等待执行的运行过多，之后的触发将错过。请查明执行器在发送什么，或启动更多执行器。",
	},
	"rule_never_heard": {
		"",
		"A job that runs elsewhere was never pinged, so nobody would notice if it did not run. Put the line that pings where it runs; the page of the job shows it.",
		"外部运行的任务从未收到 ping，没有运行也不会被发现。请在其运行处加入上报的命令，任务页面有可粘贴的内容。",
	},
	"rule_runs_lost": {
		"",
		"Nobody knows how a run ended: its executor died with it, forgot it, or could not report it. The work may have been done in part. The run's message says what is known.",
		"无法得知运行的结果：执行器在运行中宕机、丢失了这次运行，或无法回调结果。工作可能已部分完成。运行的消息里写明了已知情况。",
	},
}

func (t text) in(l Language) string {
	if l == Chinese {
		return t.chinese
	}
	return t.english
}

// kind is how the value of a parameter is written.
type kind int

const (
	asItIs kind = iota
	statusKind
	instantKind
	reasonKind
)

// kinds has the parameters that are written in the reader's language or zone. A name means
// the same in every sentence.
var kinds = map[string]kind{"status": statusKind, "until": instantKind, "fire_time": instantKind, "expected": instantKind, "saved": instantKind, "reason": reasonKind}

// statusWords are statuses as part of a sentence about a job.
var statusWords = map[job.Status]struct{ English, Chinese string }{
	job.StatusSucceeded: {"succeeded", "执行成功"},
	job.StatusFailed:    {"failed", "执行失败"},
	job.StatusTimedOut:  {"timed out", "执行超时"},
	job.StatusLost:      {"was lost with its executor", "失联"},
	job.StatusMissed:    {"was missed", "错过触发"},
	job.StatusCancelled: {"was cancelled", "被取消"},
	job.StatusSkipped:   {"was skipped", "已跳过"},
	job.StatusPending:   {"is pending", "等待中"},
	job.StatusQueued:    {"is queued", "排队中"},
	job.StatusRunning:   {"is running", "运行中"},
}
