{{- define "run" -}}
    run_id, job, group, version, attempt, cause, fire_time,
    nullIf(committed_at, toDateTime64(0, 3, 'UTC')) AS committed_at,
    nullIf(delivered_at, toDateTime64(0, 3, 'UTC')) AS delivered_at,
    nullIf(started_at, toDateTime64(0, 3, 'UTC')) AS started_at,
    nullIf(finished_at, toDateTime64(0, 3, 'UTC')) AS finished_at,
    nullIf(lateness_ms, -1) AS lateness_ms,
    nullIf(duration_ms, -1) AS duration_ms,
    instance, delivery, exit_code, message,
    if(end_reason != '', end_reason, reason) AS reason,
    made_by, result, log_lines, count,
    nullIf(until, toDateTime64(0, 3, 'UTC')) AS until,
    nullIf(parent_run_id, toUUID('00000000-0000-0000-0000-000000000000')) AS parent_run_id
{{- end -}}
{{- define "added up" -}}
    sum(r.succeeded) AS succeeded, sum(r.failed) AS failed, sum(r.timed_out) AS timed_out, sum(r.cancelled) AS cancelled,
    sum(r.lost) AS lost, sum(r.skipped) AS skipped, sum(r.missed) AS missed,
    succeeded + failed + timed_out + cancelled + lost + skipped + missed AS runs,
    round((failed + timed_out + lost) / greatest(succeeded + failed + timed_out + cancelled + lost, 1), 6) AS failure_ratio,
    sum(r.attempts) AS attempts,
    round(sum(r.duration_sum_ms) / greatest(sum(r.begun), 1)) AS duration_mean_ms,
    max(r.duration_max_ms) AS duration_max_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.duration_q)) AS duration_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.committed_q)) AS committed_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.delivered_q)) AS delivered_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.started_q)) AS started_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.finished_q)) AS finished_after_ms
{{- end -}}
{{- define "sums" -}}
    sum(succeeded), sum(failed), sum(timed_out), sum(cancelled), sum(lost), sum(skipped), sum(missed), sum(attempts), sum(begun), sum(firsts), sum(delivered),
    sum(duration_sum_ms), max(duration_max_ms),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(duration_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(committed_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(delivered_q),
    quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(started_q), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(finished_q)
{{- end -}}
{{- define "report columns" -}}
    ADD COLUMN IF NOT EXISTS delivered SimpleAggregateFunction(sum, UInt64) AFTER firsts,
    ADD COLUMN IF NOT EXISTS delivered_q AggregateFunction(quantilesTiming(0.5, 0.9, 0.95, 0.99), UInt64) CODEC(ZSTD(1)) AFTER committed_q
{{- end -}}
{{- define "run columns" -}}
    ADD COLUMN IF NOT EXISTS delivered_at DateTime64(3, 'UTC') DEFAULT 0 CODEC(Delta(8), ZSTD(1)) AFTER committed_at,
    ADD COLUMN IF NOT EXISTS deliver_ms Int64 MATERIALIZED if(toUnixTimestamp64Milli(delivered_at) > 0, greatest(dateDiff('millisecond', fire_time, delivered_at), 0), -1) CODEC(T64, ZSTD(1)) AFTER commit_ms
{{- end -}}
-- When the trigger of an attempt was delivered to the instance that began it; 0 is that its
-- executor does not tell. Rows of former versions have that.
ALTER TABLE {{.Local "runs"}} {{.OnCluster}}
{{template "run columns"}};

ALTER TABLE {{.Local "report_minute"}} {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE {{.Local "report_instance"}} {{.OnCluster}}
{{template "report columns"}};

{{if .Sharded -}}
ALTER TABLE runs {{.OnCluster}}
{{template "run columns"}};

ALTER TABLE report_minute {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE report_hour {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE report_day {{.OnCluster}}
{{template "report columns"}};

ALTER TABLE report_instance {{.OnCluster}}
{{template "report columns"}};

{{end -}}
-- Days before hours, which feed them.
ALTER TABLE {{.Local "report_day_of_hours"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfDay(h.bucket) AS bucket, group, job, version,
    sum(h.succeeded) AS succeeded, sum(h.failed) AS failed, sum(h.timed_out) AS timed_out, sum(h.cancelled) AS cancelled, sum(h.lost) AS lost,
    sum(h.skipped) AS skipped, sum(h.missed) AS missed, sum(h.attempts) AS attempts, sum(h.begun) AS begun, sum(h.firsts) AS firsts, sum(h.delivered) AS delivered,
    sum(h.duration_sum_ms) AS duration_sum_ms, max(h.duration_max_ms) AS duration_max_ms,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.duration_q) AS duration_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.committed_q) AS committed_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.delivered_q) AS delivered_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.started_q) AS started_q,
    quantilesTimingMergeState(0.5, 0.9, 0.95, 0.99)(h.finished_q) AS finished_q
FROM {{.Local "report_hour"}} AS h
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_minute_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfMinute(fire_time) AS bucket, group,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group;

ALTER TABLE {{.Local "report_hour_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfHour(fire_time) AS bucket, group, job, version,
{{.ReportColumns "run_status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded'
GROUP BY bucket, group, job, version;

ALTER TABLE {{.Local "report_instance_of_runs"}} {{.OnCluster}} MODIFY QUERY
SELECT toStartOfHour(fire_time) AS bucket, group, instance,
{{.ReportColumns "status" "measured"}},
{{.DeliveredColumns "measured"}}
FROM {{.Local "runs"}}
WHERE broadcast_index = -1 AND status >= 'succeeded' AND instance != ''
GROUP BY bucket, group, instance;

-- A projection has the columns that it was made with: these take the place of those before,
-- under names of their own, as those go in the background.
ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} DROP PROJECTION IF EXISTS by_group;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} DROP PROJECTION IF EXISTS by_job;

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} DROP PROJECTION IF EXISTS by_group;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS of_groups
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS of_groups
(SELECT bucket, group,
    {{template "sums"}}
GROUP BY bucket, group);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} ADD PROJECTION IF NOT EXISTS of_jobs (SELECT * ORDER BY job, bucket);

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION of_groups;

ALTER TABLE {{.Local "report_hour"}} {{.OnCluster}} MATERIALIZE PROJECTION of_jobs;

ALTER TABLE {{.Local "report_day"}} {{.OnCluster}} MATERIALIZE PROJECTION of_groups;

CREATE OR REPLACE VIEW v_runs {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_status AS status, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index = -1 AND run_status != '' AND sign = 1;

CREATE OR REPLACE VIEW v_attempts {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT status, retry AND ruled = '' AS retried, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index = -1 AND sign = 1;

CREATE OR REPLACE VIEW v_pieces {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT status, broadcast_index, broadcast_total, {{template "run" .}}
FROM runs FINAL
WHERE broadcast_index >= 0 AND sign = 1;

CREATE OR REPLACE VIEW v_failures {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT *, replaceRegexpAll(leftUTF8(splitByChar('\n', multiIf(message != '', message, reason != '', reason, toString(status)))[1], {{.FingerprintLength}}), {{.Variable}}, '#') AS fingerprint
FROM v_attempts
WHERE status IN ('failed', 'timed_out', 'lost');

CREATE OR REPLACE VIEW v_minutes {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS minute, group, {{template "added up" .}}
FROM report_minute AS r
GROUP BY bucket, group;

CREATE OR REPLACE VIEW v_hours {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS hour, group, job, version, {{template "added up" .}}
FROM report_hour AS r
GROUP BY bucket, group, job, version;

CREATE OR REPLACE VIEW v_days {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS day, group, job, version, {{template "added up" .}}
FROM report_day AS r
GROUP BY bucket, group, job, version;

CREATE OR REPLACE VIEW v_instances {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT bucket AS hour, group, instance, {{template "added up" .}}
FROM report_instance AS r
GROUP BY bucket, group, instance;
