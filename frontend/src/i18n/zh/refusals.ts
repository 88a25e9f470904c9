import type { RefusalCode } from "../en/refusals.gen";

/** The sentences of refusals and of imports by their codes. Their parameters are those of the English ones. */
export const refusals: Record<RefusalCode, string> = {
  // 日程与导入
  no_boot: "集群没有开机时刻，请用操作系统的 init 启动这类工作",
  name_taken: "名称“{name:phrase}”已被第 {line:number} 行使用",
  setting_no_name: "等号前没有名称",
  no_time_zone: "“{zone:phrase}”不是时区，请使用 IANA 名称，如 {example:word}",
  nothing_mailed: "不发送邮件，任务的输出在运行日志中",
  minutes_wrong: "“{value:phrase}”应为 0 到 {most:number} 之间的分钟数",
  becomes_spread: "转为 schedule.spread：每次相同的延迟",
  runs_as_executor: "以执行器的用户运行，而不是 {user:word}",
  empty_directory: "在空目录中运行，而不是主目录",
  few_fields: "只有分、时、日、月、星期五个字段中的 {fields:number} 个，并且没有命令",
  not_utf8: "不是 UTF-8 编码；如果程序名也使用该编码，请将文件另存为 UTF-8",
  mixed_crontab:
    "无法判断：有些行在命令前写明了常见用户，而这一行不可能是：{line:phrase}。请指定 --system 或 --system=false（API 中为 system）",
  no_user_no_command: "没有用户和命令；系统 crontab 在命令前写明用户",
  no_command_after_user: "用户之后没有命令，这是某个用户的 crontab 吗？",
  six_fields:
    "有六个时间字段，而 crontab 每行只有五个：cron 会运行“{command:phrase}”。请删去一个字段；需要精确到秒时，请新建任务并在 schedule.cron 中写六个字段",
  random_becomes_h:
    "{random:phrase} 转为 {fields:phrase}：H 的值由任务名称决定，保持不变；cron 则在每次读取文件时随机选择",
  every_counted:
    "按经过的时间每 {every:duration} 触发一次，从 1970-01-01T00:00:00Z 起计算，与导入或启动的时刻无关；要更改起点，请在任务中使用 fixed_rate 和 anchor",
  zone_on_its_line: "crontab 的任务行不能带时区，请在它上方单独写一行 CRON_TZ={zone:word}",
  foreign_file: "不是 crontab，而是 {format:phrase}；请使用 {command:phrase}",
  foreign_format:
    "不是 crontab，而是 {format:phrase}；请把其中的调度和命令写成任务，再用 carillon apply -f FILE 导入",
  anacron_line:
    "是 anacrontab 的行（周期天数、延迟、名称、命令）；请改写为 crontab 的行，例如 0 3 * * * 加命令",
  cron_flags: "{flags:word} 是 OpenBSD cron 的标志：-s 转为 overlap: skip，其余忽略",
  only_environment: "与 cron 相同，只是任务的环境变量；CRON_TZ 设置以下各行的时区",
  no_command: "没有命令",
  no_command_before_input: "% 之前没有命令",
  event_cancelled: "事件已取消",
  event_part_of_day: "事件只占一天的一部分，而日历以整天为单位",
  event_over: "事件在 {date:word} 之前已结束",
  event_no_day: "事件没有剩余的日期",
  event_recurs: "事件会一直重复，已展开到 {date:word}",
  no_executor_row: "属于执行器 {executor:word}，但转储中没有它；请同时转储 {table:word}，或指定分组",
  app_name_no_group:
    "属于执行器 {executor:word}，其 AppName“{name:phrase}”不含可用于分组名的字母或数字；请指定分组，并在执行器接入前修改 AppName",
  app_names_one_group:
    "AppName {names:phrase} 都会变成分组 {group:word}：请在执行器接入前只保留一个，其余改名",
  addresses_by_hand:
    "其执行器地址为手动录入（{addresses:phrase}）：请确认执行器注册的地址能被网桥访问，或使用 --rewrite",
  own_access_token:
    "其执行器有自己的 AccessToken：请在网桥的 --access-token-file 中为 {name:phrase} 添加一行",
  names_no_handler: "没有指定处理器（JobHandler）",
  glue_java:
    "是在 XXL-JOB 中编写的 Java（GLUE），只有通过桥接连接的 XXL-JOB 执行器才能运行；若使用其他执行器，请改写为处理器（JobHandler）",
  glue_unknown: "无法识别 glue_type“{kind:phrase}”",
  python2: "为 Python 2 编写",
  no_number: "{column:word}“{value:phrase}”不是数字，已忽略",
  value_unknown: "无法识别 {column:word}“{value:phrase}”，已忽略",
  was_mailed: "失败时原来会发邮件给 {to:phrase}；在 Carillon 中需要配置告警规则",
  child_no_job: "子任务 {child:word} 在 Carillon 中没有对应的任务，已忽略",
  child_too_many: "子任务 {child:word} 超出了每个任务 {most:number} 个的上限，已忽略",
  child_loop: "子任务 {child:word} 会形成循环依赖，已忽略",
  children_looped: "子任务保持为 children：{job:word} 会形成循环依赖，因此没有生成工作流",
  children_kept: "子任务保持为 children：它没有调度，因此没有以它开始的工作流",
  no_workflow: "子任务保持为 children：若作为工作流，{why:phrase}",
  schedule_moved: "由 {job:word} 调用，其调度和子任务已移到该工作流",
  stopped_schedule: "原已停止，并由工作流调用：已忽略其调度 {schedule:phrase}，因为暂停的任务不能被调用",
  step_renamed: "{job:word} 对应步骤 {step:word}，因为原名已被另一步骤使用",
  step_runs_once: "步骤 {step:word} 在其所有前置步骤之后只运行一次；XXL-JOB 会在每个父任务之后各运行一次",
  manual_only: "任务只在手动触发时运行",
  follows_end: "每次触发都在上一次运行结束之后",
  only_fire_at: "调度只触发一次，时间为 {at:instant}",
  schedule_ends: "调度在 {until:instant} 结束",
  no_date: "没有任何日期符合该调度",
  no_later_date: "此后没有日期符合该调度",
  // 请求为何被拒绝
  run_ended: "运行 {run_id:word} 已结束，状态为{status:state}",
  run_not_ended: "运行 {run_id:word} 尚未结束，状态为{status:state}",
  run_not_ended_cancel: "运行 {run_id:word} 尚未结束，状态为{status:state}；请先取消它",
  run_not_markable:
    "运行 {run_id:word} 的状态为{status:state}；只能标记失败、超时、已取消、失联或错过触发的运行",
  run_not_alive: "任务 {job:word} 的运行 {run_id:word} 未在进行",
  run_has_no_steps: "任务 {job:word} 的版本 {version:number} 没有步骤",
  run_is_step: "运行 {run_id:word} 是运行 {workflow_run_id:word} 的一个步骤",
  all_pieces_succeeded: "运行 {run_id:word} 的所有分片均已成功",
  all_steps_succeeded: "运行 {run_id:word} 的所有步骤均已成功或跳过；请重跑全部步骤，或从某个步骤开始重跑",
  run_has_not_begun: "运行 {run_id:word} 尚未开始",
  run_is_ending: "运行 {run_id:word} 正在结束；请在结束后重跑",
  no_such_step: "该运行没有步骤 {step:word}",
  step_not_recoverable:
    "步骤 {step:word} 的状态为{state:state}；只有未正常结束或已取消的步骤可以重试或手工处理",
  step_passes_none: "步骤 {step:word} 没有向它调用的任务传递参数：请给出全部参数，而不是其中一部分",
  steps_given_too_large:
    "已重试而尚未开始的步骤的参数共 {bytes:number} 字节，最多保留 {most:number} 字节：请等它们开始",
  step_follower_runs: "依赖 {step:word} 的步骤 {follower:word} 正在运行：请等待其结束，或取消它",
  step_result_gone: "步骤 {step:word} 的返回结果已不再保留；请从该步骤开始重跑",
  step_results_too_large: "所沿用步骤的返回结果共有 {bytes:number} 字节，最多传递 {most:number} 字节",
  many_skips: "任务 {job:word} 已跳过 {skips:number} 次将来的触发，达到上限",
  fire_ran_early: "{fire_time:instant} 的触发已提前运行（运行 {run_id:word}），恢复它会导致运行两次",
  no_such_run: "没有该运行",
  no_such_incident: "没有该告警事件",
  job_unknown: "引用的任务 {job:word} 不存在，或你无权查看",
  group_unknown: "引用的分组 {group:word} 不存在，或你无权查看",
  rule_unknown: "引用的告警规则 {alert:word} 不存在",
  child_unknown: "引用的任务 {job:word} 不存在，或你无权查看；在它存在之前，不会运行它",
  exists_already: "{what:phrase} 已存在",
  changed_just_now: "{what:phrase} 刚刚被他人修改",
  not_at_revision: "{what:phrase} 的修订号不是 {revision:number}",
  version_not_kept: "任务 {job:word} 的版本 {version:number} 已不再保留",
  version_of_newer:
    "任务 {job:word} 的版本 {version:number} 使用格式 {format:number}，此服务器无法读取：请升级此服务器",
  upgrade_first:
    "任务 {job:word} 需要任务定义格式 {format:number}，而服务器 {server:word} 无法读取：请先升级所有服务器",
  group_has_jobs:
    "超出数量上限：分组 {group:word} 已有 {jobs:number} 个任务，请删除部分任务，或调高服务器的 --group-jobs",
  group_has_documents:
    "过大：分组 {group:word} 的任务总大小将达 {bytes:number} 字节，上限为 {most:number}：请缩小部分任务，或调高服务器的 --group-jobs-size",
  group_has_scripts:
    "超出数量上限：分组 {group:word} 已有 {scripts:number} 个脚本，不再被任何版本使用的脚本会在一天后清除",
  group_keeps_overrides:
    "无法保存：分组 {group:word} 已保存 {runs:number} 次运行的覆盖参数，共 {mebibytes:number} MiB，上限为 500,000 次和 512 MiB；每份保存 90 天；请使用任务自身的参数运行",
  group_has_secrets: "超出数量上限：分组 {group:word} 已有 {secrets:number} 个密钥，请删除部分密钥",
  group_has_credentials: "{group:word} 已有 {credentials:number} 个凭据，达到上限：请吊销部分凭据",
  user_has_tokens: "超出数量上限：用户 {user:word} 已有 {tokens:number} 个 API 令牌，请吊销部分令牌",
  backfill_twice: "任务 {job:word} 的另一次补数尚未运行完这些触发",
  backfill_over: "任务 {job:word} 的补数 {backfill:word} 已全部开始，或已取消",
  instance_stopping: "执行器 {instance:word} 正在停止，无法恢复",
  needs_grant: "需要分组 {group:word} 中的 {grant:word} 权限",
  needs_role_in: "需要分组 {group:word} 中的 {role:word} 角色",
  needs_role_somewhere: "需要在某个执行器分组中拥有 {role:word} 角色",
  group_waits: "属于分组 {group:word}，该分组没有执行器，运行会等待执行器启动",
  handler_unknown:
    "分组 {group:word} 的执行器都没有处理器“{handler:phrase}”，运行会一直等待；已有：{handlers:phrase}",
  kind_undone:
    "分组 {group:word} 没有在线的执行器能运行 {kind:word} 任务，运行会一直等待；可运行：{kinds:phrase}",
  needs_role: "需要全局的 {role:word} 角色",
  needs_grant_to_change: "修改 {field:word} 需要分组 {group:word} 中的 {grant:word} 权限",
  needs_params: "指定参数需要分组 {group:word} 中的 params 权限",
  needs_sql: "需要全局的 sql、logs 和 params 权限：查询结果包含所有分组的历史",
  needs_awaited_role: "要等待 {job:word} 的运行，需要分组 {group:word} 中的 viewer 角色",
  needs_follower_role: "要作为子任务或在步骤中触发 {job:word}，需要分组 {group:word} 中的 operator 角色",
  store_silent: "日志存储没有响应",
  part_silent: "系统的一部分没有响应，可以稍后重试",
  jobs_not_loaded: "任务尚未加载完成",
  shard_silent: "任务 {job:word} 所在的调度分区 {shard:number} 的节点没有响应，请求是否生效未知",
  audit_silent: "没有做任何修改：审计日志没有响应",
  see_log: "详情请按请求编号查看服务器日志",
  sign_in_first: "请先登录，或提供 API 令牌",
  sign_in_or_ask: "请登录，或联系管理员",
  wrong_password: "用户名或密码错误",
  bad_token: "API 令牌无效：输入有误、已过期、已吊销、其用户已不存在，或其用户过久没有通过 OIDC 登录",
  provider_silent: "OIDC 服务没有响应",
  not_reached: "请求超时，尚未处理到这一项，请重试",
  is_missing: "不能为空",
  must_lie_ahead: "{until:instant} 必须是将来的时刻",
  calendar_unknown: "引用了不存在的日历 {calendar:word}",
  calendar_in_use: "有任务正在使用日历 {calendar:word}：{jobs:phrase}",
  calendar_in_use_too:
    "有任务正在使用日历 {calendar:word}：{jobs:phrase}；另有 {others:number} 个你无权查看的分组中的任务",
  in_past: "{at:instant} 已过去，任务不会触发",
  no_fire_left: "此后不再有触发时间，任务不会触发",
  calendars_exclude_all: "排除了所有触发时间，任务不会运行",
  calendars_exclude_until: "排除了 {until:instant} 之前的所有触发时间",
  step_uneven:
    "包含“{step:phrase}”，它表示 {values:phrase}，且每轮重新计数；要每隔 {every:duration} 触发一次，请使用 fixed_rate",
  days_numbered:
    "包含“{days:phrase}”，它表示 {names:phrase}，因为六个字段的表达式中 1 是星期日；请写名称，例如 MON-FRI",
  step_restarts:
    "包含“{step:phrase}”，它表示 {values:phrase}，且每轮重新计数；要保持间隔相等，请使用 every，写“{every:phrase}”",
  day_missing:
    "指定了 {day:number} 日，在没有这一天的月份（{months:phrase}）不会触发；要在每月最后一天触发，请使用 every，写“{every:phrase}”",
  leap_day: "指定了 29 日，而 2 月只在闰年有这一天；要在每月最后一天触发，请使用 every，写“{every:phrase}”",
  either_day:
    "同时限定了日和星期，与 cron 相同，满足其一即触发；要两者都满足，请使用 every，例如“{every:phrase}”",
  star_before: "在“{value:phrase}”之前写了“*”，届时会触发 60 次；只触发一次请把 * 改为 0",
  rate_ignores_zone:
    "不影响固定频率的触发：{zone:word} 调整时钟后，触发的当地时间会改变，下一次在 {change:instant}；要固定当地时间，请使用 cron 或 every",
  must_lie_after: "必须晚于 {field:word}",
  too_many_bytes: "有 {bytes:number} 字节，最多传递 {most:number} 字节",
  cursor_of_page: "必须是上一页返回的 next",
  until_for_pause: "仅用于暂停",
  fire_ahead: "{fire_time:instant} 必须至少在 {ahead:duration} 之后",
  run_id_old:
    "的时间是 {at:instant}，历史中没有这个标识的运行：请换一个新的，因为超过五分钟的标识可能已经用过",
  run_id_ahead: "的时间是 {at:instant}，比现在晚一分钟以上：请校准产生它的时钟",
  key_twice: "与请求体中的 {field:word} 不一致：两者只能给一个",
  too_many_costly:
    "您有 {requests:number} 个报表、导出、预览、导入或对未知运行的查询正在进行或等待，已达上限：请减少同时发出的请求",
  costly_busy: "服务器一直忙于其他报表、导出、预览、导入或对未知运行的查询：请重试",
  pieces_all: "不分片的运行只能为 all",
};
