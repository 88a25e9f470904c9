{{- define "run" -}}
    run_id, job, group, version, attempt, cause, fire_time,
    nullIf(committed_at, toDateTime64(0, 3, 'UTC')) AS committed_at,
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
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.started_q)) AS started_after_ms,
    arrayMap(x -> round(exp2(x / 32) - 1), quantilesTimingMerge(0.5, 0.9, 0.95, 0.99)(r.finished_q)) AS finished_after_ms
{{- end -}}
-- What people query. Instants that have not come are NULL here, and a run is one row.
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

-- Attempts that went wrong, with # in their message for what varies.
CREATE OR REPLACE VIEW v_failures {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT *, replaceRegexpAll(leftUTF8(splitByChar('\n', multiIf(message != '', message, reason != '', reason, toString(status)))[1], {{.FingerprintLength}}), {{.Variable}}, '#') AS fingerprint
FROM v_attempts
WHERE status IN ('failed', 'timed_out', 'lost');

CREATE OR REPLACE VIEW v_timeline {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, at, kind, status, instance, delivery, percent, detail
FROM run_events FINAL;

CREATE OR REPLACE VIEW v_lines {{.OnCluster}} SQL SECURITY INVOKER AS
SELECT run_id, job, group, fire_time, attempt, nullIf(broadcast_index, -1) AS broadcast_index, seq, at, level, output, text
FROM run_logs;

-- Quantiles are arrays of the 50th, 90th, 95th and 99th percentile.
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
